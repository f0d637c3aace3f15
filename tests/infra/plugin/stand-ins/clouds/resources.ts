// The resources of a cloud in memory, by id, and the store's records in those that hold some.
import type { ProviderSchema } from '../../schemas/schema.ts';
import type { Cloud, Values } from '../terraform-provider.ts';
import { replacedByOf } from './force-new.ts';

export interface Resource {
  readonly type: string;
  readonly values: Values;
}

export class Resources<Made extends Resource> {
  readonly resources = new Map<string, Made>();
  readonly records = new Map<string, Map<string, string>>();
  readonly replacedBy: Cloud['replacedBy'];

  constructor(schema: ProviderSchema) {
    this.replacedBy = replacedByOf(schema);
  }

  idsOf(type: string): string[] {
    return [...this.resources].filter(([, one]) => one.type === type).map(([id]) => id);
  }

  ofType(type: string): Made[] {
    return [...this.resources.values()].filter((one) => one.type === type);
  }

  /** The store's records in this account or database. */
  recordsOf(id: string): Map<string, string> {
    if (!this.records.has(id)) this.records.set(id, new Map());
    return this.records.get(id)!;
  }
}
