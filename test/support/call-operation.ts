import type { JsonObject } from '../../src/core/json.ts'
import { perform } from '../../src/core/request/pipeline.ts'
import type { Sandbox } from '../../src/core/sandboxes/sandbox.ts'
import { KEYS } from './base-state.ts'

export interface CallOptions {
  readonly params?: Readonly<Record<string, string>>
  readonly body?: object | undefined
  readonly headers?: Readonly<Record<string, string | undefined>>
  /** The path before `/v1`; default: empty. */
  readonly pathPrefix?: string
}

/** Calls an operation in process, as KU unless the headers say otherwise. */
export function callOperation(
  sandbox: Sandbox,
  name: string,
  { params = {}, body, headers, pathPrefix = '' }: CallOptions = {},
) {
  const operation = sandbox.service.operations.get(name)
  if (operation === undefined) throw new Error(`there is no operation ${name}`)
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, param: string) => params[param] ?? '')
  return perform(sandbox, {
    operation,
    method: operation.method,
    path: `${pathPrefix}/v1${path}`,
    pathPrefix,
    chosenBy: pathPrefix === '' ? 'default' : 'path',
    params,
    query: {},
    headers: { authorization: `Bearer ${KEYS.KU}`, ...headers },
    body: body === undefined ? { kind: 'none' } : { kind: 'json', value: body as JsonObject },
  })
}
