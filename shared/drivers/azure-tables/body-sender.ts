// Requests whose bodies are in pieces, each written into memory that the requests before have used.
import { RequestMemory } from '../common/request-memory.ts';
import type { HttpReply } from './http.ts';
import { bytesOf, lengthOf } from './rows.ts';
import type { TableService } from './service.ts';

type PiecesRequest = Omit<Parameters<TableService['send']>[0], 'body'> & { readonly body: readonly string[] };

/** Memory is free once the operating system has taken the body: a reply may come before. */
export function bodySender(service: Pick<TableService, 'send'>) {
  const memories = new RequestMemory();
  return async (request: PiecesRequest, untilMs: number): Promise<HttpReply> => {
    const memory = memories.take(lengthOf(request.body));
    const reply = await service.send({ ...request, body: bytesOf(request.body, memory) }, untilMs);
    if (reply.isRequestWritten) memories.giveBack(memory);
    return reply;
  };
}
