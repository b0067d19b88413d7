import type * as z from 'zod'
import { didYouMean } from '../core/did-you-mean.ts'
import { type Immutable, isObject } from '../core/json.ts'
import type { Control, Input, Method, ParamsOf } from '../core/operation.ts'
import { NAME_PATTERN } from '../core/sandboxes/name.ts'
import type { webhookControls } from '../core/webhooks/resource.ts'
import type { OwnRoute } from '../server/control/routes/index.ts'
import type { SandboxDraft } from '../server/control/routes/sandboxes.ts'
import { EmulatorError, notAnEmulator, refusalIn } from './emulator-error.ts'
import { type ControlResponse, prefixOf, type Transport } from './transport.ts'

/** The parts of a route that a client needs: a route of the control interface itself, or an intervention of a resource. */
type Declared = Pick<Control<Method, string, Input>, 'method' | 'path' | 'input' | 'output'>

type Accepted<R extends Declared, K extends keyof Input> = R extends {
  readonly input?: (...args: never[]) => infer I
}
  ? I extends { readonly [Key in K]: infer Schema extends z.ZodType }
    ? Immutable<z.input<Schema>>
    : unknown
  : unknown

interface CallOf<R extends Declared> {
  readonly params: ParamsOf<R['path']>
  readonly query: Accepted<R, 'query'>
  readonly body: Accepted<R, 'body'>
  readonly output: z.output<ReturnType<R['output']>>
}

/** The inputs and outputs of calls, by method and path template: `POST /clock/advance`. */
export type CallsOf<R extends Declared> = {
  readonly [Each in R as `${Each['method']} ${Each['path']}`]: CallOf<Each>
}

/** The calls of the control interface that every service has. */
export type OwnCalls = CallsOf<OwnRoute | ReturnType<typeof webhookControls>[number]>

interface Call {
  readonly params: unknown
  readonly query: unknown
  readonly body: unknown
  readonly output: unknown
}

/** A part of a call: absent if the route accepts none, optional if the route does not require it. */
type InputPart<Name extends string, T> = unknown extends T
  ? { readonly [N in Name]?: undefined }
  : undefined extends T
    ? { readonly [N in Name]?: T }
    : { readonly [N in Name]: T }

/** The input of a call. */
export type CallInput<C extends Call> = InputPart<'params', C['params']> &
  InputPart<'query', C['query']> &
  InputPart<'body', C['body']> & {
    readonly signal?: AbortSignal | undefined
    /** Entity tag that the record must still have; the call is refused with 412 otherwise. */
    readonly ifMatch?: string | undefined
  }

/** The last parameter of a call; optional if the call requires no input. */
export type LastParameter<C extends Call> =
  object extends CallInput<C> ? [given?: CallInput<C>] : [given: CallInput<C>]

/** Calls the control interface about one sandbox. Rejects with an {@link EmulatorError}. */
export type CallControl<Table extends { readonly [K in keyof Table]: Call } = OwnCalls> = <
  K extends keyof Table & string,
>(
  route: K,
  ...rest: LastParameter<Table[K]>
) => Promise<Table[K]['output']>

/** The entries of a list. The library returns these instead of the list object. */
export async function dataOf<T>(list: Promise<{ readonly data: readonly T[] }>): Promise<readonly T[]> {
  return (await list).data
}

/** @param sandbox absent: the default one */
export function callControlOver<Table extends { readonly [K in keyof Table]: Call } = OwnCalls>(
  transport: Transport,
  sandbox?: string,
): CallControl<Table> {
  return async (route, ...[given]) => {
    const { params, query, body, signal, ifMatch } = (given ?? {}) as Untyped
    const asked = prefixOf(sandbox) === '' ? route : `${route} of the sandbox ${sandbox}`
    refuseUnaddressable(params, asked)
    const about = sandboxIn(route, given as Untyped) ?? sandbox
    const response = await transport({
      ...{ route, params, query: present(query), body, ifMatch, signal },
      sandbox: about,
    })
    signal?.throwIfAborted()
    return outputOf(response, asked) as Table[typeof route]['output']
  }
}

/** The sandbox that a call creates, shows or deletes. It is in the path, too, so that a balancer of several emulators can route it. */
function sandboxIn(route: string, { params, body }: Untyped = {}): string | undefined {
  const { name, from_snapshot } = Object(
    route === 'POST /sandboxes' ? body : undefined,
  ) as Partial<SandboxDraft>
  // A snapshot belongs to the sandbox of the call.
  if (from_snapshot !== undefined) return undefined
  const named = route.endsWith(' /sandboxes/{name}') ? params?.name : name
  return named !== undefined && NAME_PATTERN.test(named) ? named : undefined
}

/** The input of any call, without its types. */
interface Untyped {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string | undefined>>
  readonly body?: unknown
  readonly signal?: AbortSignal
  readonly ifMatch?: string
}

function outputOf({ status, body }: ControlResponse, asked: string): unknown {
  const refusal = refusalIn(status, body, asked)
  if (refusal !== undefined) throw refusal
  // A check that has not passed is an output too, with the status 409.
  if (status < 300 || (isObject(body) && Object.hasOwn(body, 'passed'))) return body
  throw notAnEmulator(status, asked)
}

// With an empty segment, `.` or `..` a path would lead elsewhere: URL parsers remove dots, percent-encoded ones too. A lone
// surrogate has no percent-encoding.
function refuseUnaddressable(params: Readonly<Record<string, string>> = {}, asked: string): void {
  const issues = Object.entries(params)
    .filter(([, value]) => /^\.{0,2}$/.test(value) || /\p{Surrogate}/u.test(value))
    .map(([name, value]) => ({
      pointer: `/path/${name}`,
      detail: `is "${value}", which a path cannot contain`,
    }))
  if (issues.length === 0) return
  throw new EmulatorError({
    status: 400,
    code: 'validation_failed',
    detail: `The path cannot be built: ${issues.map(({ pointer, detail }) => `${pointer} ${detail}`).join('; ')}.`,
    mitigation: 'Use an id or a name from a response or a list of the emulator.',
    issues,
    asked,
  })
}

function present(
  query: Readonly<Record<string, string | undefined>> = {},
): Readonly<Record<string, string>> | undefined {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return given.length === 0 ? undefined : Object.fromEntries(given)
}

/**
 * Refuses options that do not exist. TypeScript reports them too; in plain JavaScript a misspelt option would have no effect.
 * @throws TypeError
 */
export function refuseUnknownOptions(asked: string, options: object, known: readonly string[]): void {
  const odd = Object.keys(options).find((name) => !known.includes(name))
  if (odd === undefined) return
  const fix = didYouMean(odd, known) || ` Known options: ${known.join(', ')}.`
  throw new TypeError(`${asked} has no option "${odd}".${fix}`)
}
