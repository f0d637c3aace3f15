// Strings that mean different things are different types: a table's name where an entity's id is asked for does not compile.

declare const brand: unique symbol;

/** A string that only the function which builds, reads or checks it may give this name, by a cast. At run time it is a plain string. */
export type Branded<Name extends string> = string & { readonly [brand]: Name };
