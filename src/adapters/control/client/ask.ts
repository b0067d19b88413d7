import { isObject } from '../../../core/json.ts'
import type { Calls } from './calls.ts'
import { EmulatorError, notAnEmulator, refusalIn } from './emulator-error.ts'
import type { Interventions } from './interventions.ts'
import { prefixOf } from './paths.ts'
import type { ControlAnswer, Transport } from './transport.ts'

/** Every call of the control interface, with what it takes and answers. */
export type Routes = Calls & Interventions

/** `METHOD /template` of a call. */
export type RouteName = keyof Routes

/** A part of a call: left out where the route takes none, and where it may be. */
type Part<Name extends string, T> = unknown extends T
  ? { readonly [N in Name]?: undefined }
  : undefined extends T
    ? { readonly [N in Name]?: T }
    : { readonly [N in Name]: T }

/** What a call brings along. */
export type Given<K extends RouteName> = Part<'params', Routes[K]['params']> &
  Part<'query', Routes[K]['query']> &
  Part<'body', Routes[K]['body']> & { readonly signal?: AbortSignal | undefined }

/** Nothing, where a call needs nothing. */
type Rest<K extends RouteName> = object extends Given<K> ? [given?: Given<K>] : [given: Given<K>]

/** Calls the control interface about one sandbox. Rejects with an {@link EmulatorError}. */
export type Ask = <K extends RouteName>(route: K, ...rest: Rest<K>) => Promise<Routes[K]['answer']>

/** @param sandbox absent: the default one */
export function askOver(transport: Transport, sandbox?: string): Ask {
  return async <K extends RouteName>(route: K, ...[given]: Rest<K>) => {
    const { params, query, body, signal } = (given ?? {}) as Untyped
    const asked = prefixOf(sandbox) === '' ? route : `${route} of the sandbox ${sandbox}`
    refuseUnaddressable(params, asked)
    const answer = await transport({ route, params, query: present(query), body, sandbox, signal })
    signal?.throwIfAborted()
    return answerOf(answer, asked) as Routes[K]['answer']
  }
}

/** What a call brings along, whichever it is. */
interface Untyped {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string | undefined>>
  readonly body?: unknown
  readonly signal?: AbortSignal
}

function answerOf({ status, body }: ControlAnswer, asked: string): unknown {
  const refusal = refusalIn(status, body, asked)
  if (refusal !== undefined) throw refusal
  // A check that has not passed is an answer, too, although its status is 409. Anybody answers 200, but with something else.
  if (status === 204 || (status < 300 && isObject(body)) || isCheck(body)) return body
  throw notAnEmulator(status, asked)
}

// A path would lead elsewhere with them: URL parsers take these segments out, percent-encoded ones too. Half a character has
// no percent-encoding at all.
function refuseUnaddressable(params: Readonly<Record<string, string>> = {}, asked: string): void {
  const issues = Object.entries(params)
    .filter(([, value]) => /^\.{0,2}$/.test(value) || /\p{Surrogate}/u.test(value))
    .map(([name, value]) => ({ pointer: `/path/${name}`, detail: `is "${value}", which no path can carry` }))
  if (issues.length === 0) return
  throw new EmulatorError({
    status: 400,
    code: 'validation_failed',
    detail: `The path cannot be made: ${issues.map(({ pointer, detail }) => `${pointer} ${detail}`).join('; ')}.`,
    mitigation: 'Give what the emulator has answered or lists; it makes no such ids or names.',
    issues,
    asked,
  })
}

function isCheck(body: unknown): boolean {
  return isObject(body) && Object.hasOwn(body, 'passed')
}

function present(
  query: Readonly<Record<string, string | undefined>> = {},
): Readonly<Record<string, string>> | undefined {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return given.length === 0 ? undefined : Object.fromEntries(given)
}
