import type { ServerResponse } from 'node:http'
import * as z from 'zod'
import type { Settings } from '../../core/assumptions.ts'
import type { Method } from '../../core/operation.ts'
import type { Sandbox } from '../../core/sandboxes/sandbox.ts'
import type { BodyBounds, ControlHost } from './host.ts'

/** Where the control interface is mounted. */
export const BASE = '/__emulator'

/** Bounds of bodies that only say what to do. */
export const SMALL_BODY: BodyBounds = { bytes: 1_048_576, tokens: 100_000 }

/** Bounds of bodies that carry records, which may be as large as the largest request of the API. */
export const SANDBOX_BODY: BodyBounds = { bytes: 104_857_600, tokens: 10_000_000 }

/** The query of what shows a state: secrets that sign webhooks are masked unless it asks for them. */
export const withSecretsOrNot = () =>
  z
    .strictObject({ secrets: z.enum(['true', 'false'], { error: 'must be true or false' }).optional() })
    .prefault({})

/** The parameters that a path template names: `{ id: string }` for `/batches/{id}`. */
export type ParamsOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? { readonly [Key in Name]: string } & ParamsOf<Rest>
  : unknown

/** What a handler is given; it destructures what it needs. */
export interface ControlRequest<Params, Body, Query> {
  readonly host: ControlHost
  /** The sandbox that the request chooses, after everything that is due by now has happened, unless the route settles. */
  readonly sandbox: Sandbox
  readonly params: Params
  readonly body: Body
  readonly query: Query
  /** Every route there is. */
  readonly routes: readonly AnyRoute[]
  /** Aborted when the client does not wait any more. */
  readonly gone: AbortSignal
}

/** What a handler answers: 200 when it names no status, and no body when it gives none. */
export interface ControlReply<Answer extends object = object> {
  readonly status?: number
  readonly body?: Answer
  /** Writes the answer itself, after the headers that every answer has; instead of a body. */
  readonly stream?: (res: ServerResponse) => void
}

/** One route of the control interface, as data. */
export interface ControlRoute<
  Verb extends Method,
  Path extends string,
  Body extends z.ZodType,
  Query extends z.ZodType,
  Answer extends object,
> {
  /** `theme.verb`, unique. */
  readonly name: string
  readonly method: Verb
  /** Path template below `/__emulator`. */
  readonly path: Path
  /** One line for listings: what it does. */
  readonly summary: string
  /** What a successful answer holds. */
  readonly answers: string
  /** Media type of a successful answer; JSON when absent. */
  readonly media?: string
  /** Statuses of success; 200 when absent. */
  readonly success?: readonly number[]
  /** Needs no control token: anyone who supervises the process cannot know one that was made for the run. */
  readonly probe?: true
  /** Concerns no sandbox: none is made for it, and the handler gets any that is there. */
  readonly withoutSandbox?: true
  /** Of a worldless route: the sandbox that the request chooses is opened when the disk holds it. */
  readonly opens?: true
  /** Its handler lets happen itself what is due by now, and tells of it. */
  readonly settles?: true
  /** Its handler only waits: when connections run out, `gone` is aborted and the client gets a 503. */
  readonly waits?: true
  /** Absent: {@link SMALL_BODY}. */
  readonly bounds?: BodyBounds
  /** Absent: no parameter is known, and any is refused. */
  readonly query?: () => Query
  /** Absent: the body is empty or `{}`. */
  readonly body?: (settings: Settings) => Body
  readonly handle: (
    request: ControlRequest<ParamsOf<Path>, z.output<Body>, z.output<Query>>,
  ) => ControlReply<Answer> | Promise<ControlReply<Answer>>
}

// biome-ignore lint/suspicious/noExplicitAny: a list of routes forgets each one's input types; its own handler keeps them.
export type AnyRoute = ControlRoute<any, any, any, any, any>

/**
 * Declares a route; the handler's types flow from the path template and the schemas.
 * @example
 * route({ name: 'clock.show', method: 'GET', path: '/clock', ..., handle: ({ sandbox }) => ({ body: clockOf(sandbox) }) })
 */
export function route<
  const Verb extends Method,
  const Path extends string,
  Body extends z.ZodType = z.ZodType,
  Query extends z.ZodType = z.ZodType,
  Answer extends object = object,
>(declared: ControlRoute<Verb, Path, Body, Query, Answer>): ControlRoute<Verb, Path, Body, Query, Answer> {
  return declared
}

/** The names of the parameters in a path template. */
export function paramNames(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
}
