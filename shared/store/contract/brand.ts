// Gives strings of different meaning different types: a table's name is no entity's id.

declare const brand: unique symbol;

/** Only the function that builds, reads or checks such a string casts to it. */
export type Branded<Name extends string> = string & { readonly [brand]: Name };
