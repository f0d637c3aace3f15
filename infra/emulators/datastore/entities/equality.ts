// Compares values by meaning: a write that changes nothing must not raise a version. The order of
// properties has no meaning; nor has an encoded default.
import { WireReader } from '../wire/wire.ts';
import { keyBytesOf, propertiesOf, valueOf } from './entities.ts';
import { elementsOf, microseconds, pointOf } from './value-order.ts';
import { FIELD, findContent, type Properties } from './values.ts';

export function sameProperties(one: Properties, other: Properties): boolean {
  if (one.size !== other.size) return false;
  for (const [name, entry] of one) {
    const twin = other.get(name);
    if (twin === undefined) return false;
    if (!twin.equals(entry) && !sameValue(valueOf(entry), valueOf(twin))) return false;
  }
  return true;
}

function sameValue(one: Buffer, other: Buffer): boolean {
  if (one.equals(other)) return true;
  const [first, second] = [findContent(new WireReader(one)), findContent(new WireReader(other))];
  return (
    first.type === second.type &&
    first.meaning === second.meaning &&
    first.excluded === second.excluded &&
    sameContent(first.type, one.subarray(first.start, first.end), other.subarray(second.start, second.end))
  );
}

function sameContent(type: number, one: Buffer, other: Buffer): boolean {
  if (one.equals(other)) return true;
  switch (type) {
    case FIELD.entity:
      return keyBytesOf(one).equals(keyBytesOf(other)) && sameProperties(propertiesOf(one), propertiesOf(other));
    case FIELD.array:
      return sameElements(elementsOf(new WireReader(one)), elementsOf(new WireReader(other)));
    case FIELD.timestamp:
      return microseconds(new WireReader(one)) === microseconds(new WireReader(other));
    case FIELD.geoPoint:
      return String(pointOf(new WireReader(one))) === String(pointOf(new WireReader(other)));
    default:
      return false;
  }
}

function sameElements(one: readonly Buffer[], other: readonly Buffer[]): boolean {
  return one.length === other.length && one.every((element, place) => sameValue(element, other[place]!));
}
