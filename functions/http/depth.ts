// How deep a value may be nested, in JSON and MessagePack alike: as deep as the library takes it.
import { VALUE_DEPTH_MAX } from '../../shared/store/index.ts';
import { Problem } from './problem.ts';

export function tooDeep(): Problem {
  return new Problem(
    'malformed',
    `the value is nested deeper than ${VALUE_DEPTH_MAX} levels of arrays and maps: flatten it`,
  );
}
