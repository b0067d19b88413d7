import { FaultedRequest } from '../../src/core/faults/faulted-request.ts'
import type { Sandbox } from '../../src/core/sandboxes/sandbox.ts'
import { callOperation } from './call-operation.ts'

export interface CallOptions {
  readonly id?: string
  readonly body?: object
  readonly idempotencyKey?: string
  /** The path before `/v1`; default: empty. */
  readonly pathPrefix?: string
}

/** Calls one of the batch operations in process, as KU, and reads the whole response. */
export function callBatches(
  sandbox: Sandbox,
  name: string,
  { id = '', body, idempotencyKey, pathPrefix = '' }: CallOptions = {},
) {
  const params = { batch_prediction_id: id }
  const headers = { 'idempotency-key': idempotencyKey }
  const response = callOperation(sandbox, `batch-predictions.${name}`, { params, body, headers, pathPrefix })
  const { status, text = '{}', lines, hooks } = response
  const wire = hooks instanceof FaultedRequest ? hooks.wire : undefined
  const parsed = JSON.parse(text === '' ? 'null' : text)
  return { status, text, body: parsed, lines: [...(lines ?? [])].map((line) => JSON.parse(line)), wire }
}
