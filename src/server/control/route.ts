import type { ServerResponse } from 'node:http'
import { z } from 'zod'
import { memoizeBySettings } from '../../core/assumptions.ts'
import type { ShapeOf } from '../../core/fields.ts'
import type { Immutable } from '../../core/json.ts'
import type { Control, Input, Method, ParamsOf, Parsed } from '../../core/operation.ts'
import type { BodyBounds } from '../../core/request/exchange.ts'
import type { Sandbox } from '../../core/sandboxes/sandbox.ts'
import type { ControlHost } from './host.ts'

/** The path at which the control interface is mounted. */
export const BASE = '/__emulator'

/** The header with the version of the emulator, in every response of the control interface. */
export const VERSION_HEADER = 'X-Emulator-Version'

/** Bounds of bodies without records. */
export const SMALL_BODY: BodyBounds = { bytes: 1_048_576, tokens: 100_000 }

/** Bounds of bodies with records, about 80,000 of them: no other request is served while such a body is parsed. */
export const SANDBOX_BODY: BodyBounds = { bytes: 33_554_432, tokens: 2_000_000 }

/** A switch of a query. An absent one is off. */
export const flag = () =>
  z
    .enum(['true', 'false'], { error: 'must be true or false' })
    .optional()
    .transform((text) => text === 'true')

/** The query of routes that show a state: secrets that sign webhooks are masked unless `secrets` is `true`. */
export const withSecretsOrNot = () => ({ query: z.strictObject({ secrets: flag() }).prefault({}) })

/** A query that leaves out real-time fields with `stable`, so that equal runs have equal responses. */
export const stableOrNot = () => z.strictObject({ stable: flag() }).prefault({})

/** A query with which a route only checks its body, and changes nothing. */
export const dryRun = () => z.strictObject({ dry_run: flag() }).prefault({})

/** The input of a handler. */
interface ControlRequest<Params, I extends Input> {
  readonly host: ControlHost
  /** The sandbox that the request chooses. Its due events have run, unless the route has `runsDueEvents`. */
  readonly sandbox: Sandbox
  readonly params: Params
  /** The body and the query, parsed by the schemas of the route's input. */
  readonly body: Parsed<I, 'body'>
  readonly query: Parsed<I, 'query'>
  /** The header If-Match, of a route with `conditional`. */
  readonly ifMatch: string | undefined
  /** The control interface of the sandbox, as an absolute URL. */
  readonly controlUrl: string
  /** Every route of the control interface. */
  readonly routes: readonly AnyControlRoute[]
  /** Aborted when the client does not wait any more. */
  readonly gone: AbortSignal
  /** For the recording: a handler that waits first calls it in the turn in which it acts, one that ends it before it acts. */
  readonly onBegin: (() => void) | undefined
}

/** The response of a handler. Default status: 200, or 204 without a body. */
export interface ControlReply<Body = object> {
  readonly status?: number
  readonly body?: Body
  /** The entity tag of the record that the body shows, with its quotes (RFC 9110, 8.8.3). */
  readonly etag?: string
  /** Writes the response instead of `body`, after the headers of every response. */
  readonly stream?: (res: ServerResponse) => void
}

/** One route of the control interface, as data: declared like the interventions of resources, with a handler of its own. */
export interface ControlRoute<
  Verb extends Method,
  Path extends string,
  I extends Input,
  Output extends z.ZodType,
> extends Omit<Control<Verb, Path, I, Output>, 'handle'> {
  /** The output in words. */
  readonly returns: string
  /** Media type of the output; JSON when absent. */
  readonly media?: string
  /** Statuses of responses that have the output; 200 when absent. */
  readonly success?: readonly number[]
  /** Needs no control token: a supervisor of the process cannot know a token that was generated for the run. */
  readonly probe?: true
  /** Is not about a sandbox: none is created for it, and the handler gets any existing one. */
  readonly withoutSandbox?: true
  /** For a route with `withoutSandbox`: the sandbox that the request chooses is opened if it is on disk. */
  readonly opens?: true
  /** Its handler runs the due events and reports them. */
  readonly runsDueEvents?: true
  /** Its handler waits before it acts. */
  readonly actsLater?: true
  /** A recording leaves it out: it changes nothing that later requests depend on, or it begins another recording. */
  readonly unrecorded?: true
  /** It accepts If-Match: it is refused with 412 unless the record still has that entity tag (RFC 9110, 13.1.1). */
  readonly conditional?: true
  /** Its response has the entity tag of the record that it shows. */
  readonly tagged?: true
  /** Default: {@link SMALL_BODY}. */
  readonly bounds?: BodyBounds
  readonly handle: (
    request: ControlRequest<ParamsOf<Path>, I>,
  ) => ControlReply<Immutable<z.output<Output>>> | Promise<ControlReply<Immutable<z.output<Output>>>>
}

// biome-ignore lint/suspicious/noExplicitAny: a list of routes forgets each one's types; its own handler keeps them.
export type AnyControlRoute = ControlRoute<any, any, any, any>

/** The schemas of a route's input under the settings in force. */
export const controlInput = memoizeBySettings(
  ({ input }: AnyControlRoute, settings): Input => input?.(settings) ?? {},
)

/** The output of a route that removes all objects of a kind. */
export const removedIds = () =>
  z.strictObject({
    /** Ids of the removed objects. */
    removed: z.array(z.string()),
  })

export type Removed = ShapeOf<typeof removedIds>

/** The output of a route whose response has no body. */
export const noBody = () => z.undefined()

/**
 * Declares a route. The types of its handler follow from the path template and the schemas.
 * @param place method and path template, in the words in which clients call it
 * @example
 * route('GET /clock', { name: 'clock.show', ..., output: clockView, handle: ({ sandbox }) => ({ body: clockOf(sandbox) }) })
 */
export function route<
  const Verb extends Method,
  const Path extends string,
  I extends Input = Input,
  Output extends z.ZodType = z.ZodType,
>(
  place: `${Verb} ${Path}`,
  declared: Omit<ControlRoute<Verb, Path, I, Output>, 'method' | 'path'>,
): ControlRoute<Verb, Path, I, Output> {
  const [method, path] = place.split(' ') as [Verb, Path]
  return { ...declared, method, path }
}

/** The names of the parameters in a path template. */
export function paramNames(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
}
