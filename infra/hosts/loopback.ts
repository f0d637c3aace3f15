// Preloaded: servers listen on 127.0.0.1. The hosts' libraries would serve every network.
import { type ListenOptions, Server } from 'node:net';

type Listen = (this: Server, options: ListenOptions, callback: (() => void) | undefined) => Server;

const listen = Reflect.get(Server.prototype, 'listen') as Listen;

Server.prototype.listen = function listenOnLoopback(this: Server, ...args: unknown[]): Server {
  const callback = args.findLast((arg) => typeof arg === 'function') as (() => void) | undefined;
  const [first] = args;
  const given: ListenOptions = typeof first === 'object' && first !== null ? first : { port: Number(first ?? 0) || 0 };
  return listen.call(this, { host: '127.0.0.1', ...given }, callback);
};
