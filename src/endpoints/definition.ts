import type { Json } from '../core/json.ts'
import type { Method } from '../core/operation.ts'
import type { EndpointSchema } from './schema.ts'

/** The response of an endpoint in data form. */
export interface DataResponse {
  /** Default 200. */
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** A `{"$request": pointer}` in it is replaced by a part of the request. Absent: no body. */
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
  /**
   * True for one from an OpenAPI document: it answers only where neither another definition nor a record does. A document has
   * hundreds of schemas, so they are compiled with the first request.
   */
  readonly isExample?: true
  /** Lines count from 1. */
  readonly source: { readonly file: string; readonly line: number }
}
