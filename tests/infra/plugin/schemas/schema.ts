// The shape of the extracts: what is needed of a provider's schema to check a configuration against
// it.

export type AttributeType = 'string' | 'number' | 'bool' | ['list' | 'map', 'string' | 'number' | 'bool'];

/** Whether a configuration must say it, may say it, or only reads it. */
export type Use = 'required' | 'optional' | 'computed';

/** Traits that Terraform's schema leaves out and a first deployment finds out. */
export interface Traits {
  /** Another value is another resource: the old one is destroyed. */
  readonly forceNew?: true;
  readonly default?: string | number | boolean;
  /** Why, and what to use instead. */
  readonly deprecated?: string;
  /** The least and the most that the provider takes. */
  readonly range?: readonly [least: number, most: number];
  /** All that the provider takes. */
  readonly oneOf?: readonly string[];
}

export type Attribute = readonly [AttributeType, Use, Traits?];

/** Attributes and nested blocks by name. */
export type Block = Readonly<Record<string, Attribute | NestedBlock>>;

export interface NestedBlock {
  /** There may be several. */
  readonly many?: true;
  /** There must be one. */
  readonly use?: 'required';
  /** Another block, none, or one more is another resource. */
  readonly forceNew?: true;
  readonly block: Block;
}

export function attributesOf(block: Block): [name: string, Attribute][] {
  return Object.entries(block).flatMap(([name, one]) => ('block' in one ? [] : [[name, one]]));
}

export function nestedIn(block: Block): [name: string, NestedBlock][] {
  return Object.entries(block).flatMap(([name, one]) => ('block' in one ? [[name, one]] : []));
}

export interface ProviderSchema {
  readonly provider: string;
  /** The release that this is an extract of. */
  readonly version: string;
  readonly configuration: Block;
  readonly resources: Readonly<Record<string, Block>>;
  readonly data: Readonly<Record<string, Block>>;
}
