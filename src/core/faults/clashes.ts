import { didYouMean } from '../did-you-mean.ts'
import { type Clash, membersOf } from '../strict-input.ts'
import type { Expanded } from './expand.ts'
import { type Action, type PrimitiveMap, type Use, usesOf } from './primitive.ts'
import { type CountedBy, type FaultDraft, phaseOf } from './rule.ts'
import { countedBy } from './when.ts'

/**
 * Finds contradictions between the parts of a rule when each part alone is valid.
 * @param written the rule as the user has written it; an issue about a part that it leaves out points to the preset
 * @param rule the same rule, completed with its preset
 */
export function clashes(written: FaultDraft | Expanded, rule: Expanded, primitives: PrimitiveMap): Clash[] {
  const found = [
    ...withoutMatch(rule),
    ...idle(rule),
    ...unknownSteps(rule),
    ...wrongActions(rule, primitives),
  ]
  const all =
    rule.match !== undefined && found.length === 0 ? wrongPhase(rule, rule.match, primitives) : found
  return all.map((clash) => placed(clash, written))
}

// If the part comes from the preset, the pointer leads to the name of the preset.
function placed(clash: Clash, written: FaultDraft | Expanded): Clash {
  const [part] = clash.path
  if (!('preset' in written) || written.preset === undefined || part === undefined) return clash
  if (written[part as keyof FaultDraft] !== undefined) return clash
  return { path: ['preset'], message: `does not fit the rule: its ${clash.path.join('/')} ${clash.message}` }
}

function withoutMatch({ match }: Expanded): Clash[] {
  if (match !== undefined) return []
  return [{ path: ['match'], message: 'is required; use "everything" for every request' }]
}

function idle({ when, do: plain, actions }: Expanded): Clash[] {
  if (when.sequence === undefined) {
    if (Object.keys(actions).length > 0)
      return [{ path: ['actions'], message: 'are only valid with when.sequence, which names them in order' }]
    return plain.length > 0 ? [] : [{ path: ['do'], message: 'must have at least one action' }]
  }
  if (plain.length === 0) return []
  return [{ path: ['do'], message: 'is never run: when.sequence only runs the lists in actions, by name' }]
}

function unknownSteps({ when, actions }: Expanded): Clash[] {
  const known = ['pass', ...Object.keys(actions)]
  return (when.sequence ?? []).flatMap((name, n) => {
    if (known.includes(name)) return []
    const hint = didYouMean(name, known)
    return [{ path: ['when', 'sequence', n], message: `is neither "pass" nor a name in actions.${hint}` }]
  })
}

function wrongActions(rule: Expanded, primitives: PrimitiveMap): Clash[] {
  const { match } = rule
  if (match === undefined) return []
  const isAboutWebhooks = match !== 'everything' && match.webhook !== undefined
  if (!isAboutWebhooks && match !== 'everything' && match.url !== undefined)
    return [
      { path: ['match', 'url'], message: 'applies to webhooks: add webhook, too; "*" matches all of them' },
    ]
  const unfitIn = (list: readonly Action[], ...place: readonly string[]) =>
    list.flatMap((action, n) =>
      usesOf([action], primitives)
        .flatMap((use) => unfitFor(isAboutWebhooks ? 'webhook' : 'request', use, primitives))
        .map(({ path, message }) => ({ path: [...place, n, ...path], message })),
    )
  const unfit = [
    ...unfitIn(rule.do, 'do'),
    ...Object.entries(rule.actions).flatMap(([name, list]) => unfitIn(list, 'actions', name)),
  ]
  if (!isAboutWebhooks) return unfit
  const foreign = membersOf(match).filter((name) => name !== 'webhook' && name !== 'url')
  const message =
    'applies to requests, but the rule matches webhooks: only url can be given in addition to webhook'
  return [...foreign.map((name) => ({ path: ['match', name], message })), ...unfit]
}

function unfitFor(about: 'request' | 'webhook', { primitive, parameters }: Use, primitives: PrimitiveMap) {
  if (about === 'request' || primitive.clash !== undefined) {
    const clash = primitive.clash?.(parameters, about) ?? primitive.unseen?.(parameters)
    return clash === undefined ? [] : [{ ...clash, path: [primitive.name, ...clash.path] }]
  }
  const able = [...primitives.values()].filter(({ clash }) => clash !== undefined).map(({ name }) => name)
  const message = `applies to requests, but the rule matches webhooks: only ${able.join(' and ')} can be used`
  return [{ path: [primitive.name], message }]
}

/** The keys that exist before there is a request, and for webhooks. */
const COUNTABLE: Readonly<Record<'accept' | 'webhook', readonly CountedBy[]>> = {
  accept: ['connection'],
  webhook: ['resource_id'],
}

function wrongPhase(rule: Expanded, match: NonNullable<Expanded['match']>, primitives: PrimitiveMap) {
  const phase = phaseOf({ ...rule, match }, primitives)
  if (phase === 'call') return []
  const members = match === 'everything' ? [] : membersOf(match)
  const early = members.filter((name) => isTooEarly(phase, name))
  const message = EARLY[phase]
  const countable = phase === 'head' ? countedBy(rule.when) : COUNTABLE[phase]
  const uncounted = countedBy(rule.when).filter((each) => !countable.includes(each))
  return [
    ...(phase === 'accept' && !hasEnd(rule) ? [ENDLESS] : []),
    ...early.map((name) => ({ path: ['match', name], message })),
    ...uncounted.map((each) => ({
      path: ['when', 'by'],
      message: `cannot be ${each}: ${phase === 'accept' ? `it ${EARLY.accept}` : 'a webhook has none'}`,
    })),
  ]
}

/** Maximum number of connections that a rule at the stage accept may act on. */
const MAX_ACCEPTED = 1_000

/** Maximum duration, in real milliseconds, for which it may act on every connection. */
const MAX_ACCEPTED_LENGTH = 600_000

// Without an end, the rule would also cut every connection to the control interface and could not be removed. Virtual time
// is no end, since it may stand still. A count by connection is none either: it starts again with the next connection.
function hasEnd({ times, when }: Expanded): boolean {
  const { nth, first, until } = when
  const isCountedTogether = countedBy(when).length === 0
  if (isCountedTogether && nth !== undefined) return true
  const counts = [times ?? undefined, ...(isCountedTogether ? [first, until?.calls] : [])]
  if (counts.some((count) => count !== undefined && count <= MAX_ACCEPTED)) return true
  return until?.wall_ms !== undefined && until.wall_ms <= MAX_ACCEPTED_LENGTH
}

const ENDLESS: Clash = {
  path: ['times'],
  message: `is required at the stage accept, where a rule applies to every connection, also to those to the control interface: at most ${MAX_ACCEPTED}; or give when.until.wall_ms of at most ${MAX_ACCEPTED_LENGTH}, or, without when.by, nth, first or until.calls`,
}

function isTooEarly(phase: 'accept' | 'head' | 'webhook', name: string): boolean {
  if (phase === 'head') return name === 'body'
  return phase === 'accept' && name !== 'connection_request_index'
}

const EARLY = {
  accept: 'is not known yet at the stage accept: no byte of the request has been received',
  head: 'is not known yet: one of the actions takes place before the body is read',
  webhook: '',
} as const
