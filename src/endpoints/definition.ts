import type { Json } from '../core/json.ts'
import type { Method } from '../core/operation.ts'
import type { EndpointSchema } from './schema.ts'

/** The response of an endpoint in data form. Default: 200, and no body. A `{"$request": pointer}` is replaced. */
export interface DataResponse {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Json
}

/** An endpoint of the user's own, from a script or an OpenAPI document. */
export interface EndpointDefinition {
  readonly method: Method
  /** The path after `/v1`, with `{names}` for parameters. */
  readonly path: string
  readonly name?: string
  readonly summary?: string
  readonly query?: EndpointSchema
  readonly body?: EndpointSchema
  readonly output?: EndpointSchema
  readonly response?: DataResponse
  readonly responses?: readonly DataResponse[]
  readonly auth?: boolean
  /** True for one of an OpenAPI document. It answers last, and its schemas are compiled with its first request. */
  readonly isExample?: true
  /** Why it has no response, and the way out: the detail of its 501. */
  readonly unanswered?: string
  readonly source: { readonly file: string; readonly line: number }
}
