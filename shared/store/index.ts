// The public surface of the store.
export type { KeyScan, Scan, Store, Table, UpdateItem } from './contract/api.ts';
export { DELETE } from './contract/options.ts';
export type {
  BatchItem,
  CallOptions,
  CodecName,
  DeleteItem,
  DeleteOptions,
  EncodedValue,
  GetOptions,
  JsonOf,
  Order,
  PutItem,
  PutOptions,
  RangeOptions,
  ScanOptions,
  StoreOptions,
  TableOptions,
  TouchOptions,
  UpdateOptions,
  VacuumOptions,
  VerifyOptions,
} from './contract/options.ts';
export type {
  BatchOutcome,
  DeleteOutcome,
  Entry,
  GetOutcome,
  PutOutcome,
  TableInfo,
  UpdateOutcome,
  VacuumReport,
} from './contract/results.ts';
export type { Finding, FindingKind, LevelReport, VerifyReport } from './contract/verify.ts';
export type { ContainerInfo, HeaderInfo, InspectOptions, PageInfo } from './contract/inspect.ts';
export type { RepairOptions, RepairReport, Taken } from './contract/repair.ts';
export type { InputOf, OutputOf, StandardSchema } from './contract/standard-schema.ts';
export type { OperationTrace, RequestTrace, StoreEvent, TraceOutcome } from './contract/trace.ts';
export type { TableStats } from './contract/stats.ts';
export type { Compression, Runtime } from './contract/runtime.ts';
export { StoreError } from './contract/errors.ts';
export type { StoreErrorCode, StoreErrorDetails } from './contract/errors.ts';
export type {
  Driver,
  DriverCallOptions,
  DriverLimits,
  Entity,
  EntityId,
  EntityVersion,
  ListCursor,
  ListPage,
  Part,
  PartName,
  ReadRequest,
  Refused,
  Removal,
  RemoveOutcome,
  Unknown,
  Write,
  WriteOutcome,
} from './contract/driver.ts';
export { TABLE_NAME } from './format/ids.ts';
export { openStore } from './store.ts';
export { systemRuntime } from './system/system-runtime.ts';
export { decode, encode } from './table/codec.ts';
export { VALUE_DEPTH_MAX } from './table/check-value.ts';
