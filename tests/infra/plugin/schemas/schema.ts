// The shape of the extracts: what is needed of a provider's schema to check a configuration against it.

export type AttributeType = 'string' | 'number' | 'bool' | ['list' | 'map', 'string' | 'number' | 'bool'];

/** Whether a configuration must say it, may say it, or only reads it. */
export type Use = 'required' | 'optional' | 'computed';

export interface Block {
  readonly attributes: Readonly<Record<string, readonly [AttributeType, Use]>>;
  readonly blocks: Readonly<Record<string, NestedBlock>>;
}

export interface NestedBlock extends Block {
  /** Whether there may be several. */
  readonly many: boolean;
  readonly use: Use;
}

export interface ProviderSchema {
  readonly provider: string;
  /** The release that this is an extract of. */
  readonly version: string;
  readonly configuration: Block;
  readonly resources: Readonly<Record<string, Block>>;
  readonly data: Readonly<Record<string, Block>>;
}
