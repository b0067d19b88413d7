import type { LogEntry } from '../log/request-log.ts'
import type { AnyOperation } from '../operation.ts'
import type { World } from '../worlds/world.ts'

/** The operation that a request was for; undefined when no route matched. A stub's may be gone from the world by now. */
export function operationOf({ service }: World, { operation, stubbed }: LogEntry): AnyOperation | undefined {
  return stubbed ?? service.operations.get(operation ?? '')
}
