// A store for each size of container that is compared. They share nothing: each has its cache and its connections.
import type { ContainerStore } from '../../shared/compare/cell/targets.ts';
import type { Driver } from '../../shared/store/index.ts';
import { once } from '../instance/lifetime.ts';

/** An instance has no more of them: each keeps its cache as long as the instance lives. */
const SIZES_MAX = 8;

/** The driver, with entities of at most so many KiB; null, or more than the provider allows: as large as that. */
export function withEntities(driver: Driver, kib: number | null): Driver {
  const { limits } = driver;
  const entityBytesMax = Math.min(limits.entityBytesMax, kib === null ? Infinity : kib * 1_024);
  return { ...driver, limits: { ...limits, entityBytesMax } };
}

/** Opens each size once. Rejects beyond eight sizes. */
export function storesBySize(
  open: (containerKib: number | null) => Promise<ContainerStore>,
): (containerKib: number | null) => Promise<ContainerStore> {
  const stores = new Map<number | null, () => Promise<ContainerStore>>();
  return async (containerKib) => {
    if (!stores.has(containerKib)) {
      if (stores.size >= SIZES_MAX)
        throw new RangeError(`one instance compares at most ${SIZES_MAX} sizes of containers: spread them over plans`);
      stores.set(
        containerKib,
        once(() => open(containerKib)),
      );
    }
    return await stores.get(containerKib)!();
  };
}
