import { didYouMean } from '../../assumptions.ts'
import { Refusal } from '../../errors.ts'
import type { Issue } from '../../json.ts'
import type { Scope, Service } from '../../operation.ts'
import { change } from '../../sandboxes/change.ts'
import type { Sandbox } from '../../sandboxes/sandbox.ts'
import { formatInstant } from '../../time/instant.ts'
import { arm, checkDraft, disarm } from '../arm.ts'
import { ALL_PRESETS, type Preset } from '../preset.ts'
import type { FaultDraft } from '../rule.ts'
import { type FaultCounter, type FaultRule, faultCounters, faultRules } from '../rule.ts'
import { changeActions, type HeaderValues, isParameter, parametersOf, whenOf } from './parameters.ts'

export type { HeaderValue } from './parameters.ts'

/** One fault that a request asks for in its header X-Emulator-Fault. */
export interface HeaderFault {
  /** The member of the header in its canonical form: what it is known by. */
  readonly text: string
  readonly preset: string
  readonly parameters: HeaderValues
}

/** Rules that headers have armed in one sandbox. */
const MAX_HEADER_RULES = 200

/** Characters of an id, which a rule may have. */
const MAX_ID_LENGTH = 200

/**
 * The rules that a request names itself: those that an earlier request has named are there, with what they have counted,
 * the others are armed. All of them or none. Throws a {@link Refusal}: 400 names what cannot be obeyed.
 * @returns their ids
 */
export function armByHeader(sandbox: Sandbox, faults: readonly HeaderFault[]): readonly string[] {
  const wanted = new Map(faults.map((fault) => [idOf(fault), fault]))
  const drafts = [...wanted].flatMap(([id, fault]) =>
    sandbox.store.get(faultRules.name, id) === undefined ? [draftOf(sandbox, id, fault)] : [],
  )
  if (drafts.length > 0) {
    const wall = formatInstant(sandbox.options.host())
    change(
      sandbox,
      (scope) => {
        makeSpace(sandbox, scope, [...wanted.keys()])
        for (const draft of drafts) arm(scope, sandbox.service, draft, 'header', wall)
      },
      'header',
    )
  }
  return [...wanted.keys()]
}

/** Refuses a request for what its header X-Emulator-Fault says. */
export function headerRefusal(detail: string, mitigation?: string): Refusal {
  return new Refusal('bad_request', {
    detail: `The header X-Emulator-Fault cannot be obeyed. ${detail}`,
    issues: [{ pointer: '/headers/x-emulator-fault', detail }],
    ...(mitigation === undefined ? {} : { mitigation }),
  })
}

// An id has no blanks, which texts in quotes may have.
function idOf({ text }: HeaderFault): string {
  const id = `header:${text.replaceAll(' ', '%20')}`
  if (id.length <= MAX_ID_LENGTH) return id
  throw headerRefusal(
    `"${text.slice(0, 40)}…" is too long: one fault may have ${MAX_ID_LENGTH - 'header:'.length} characters.`,
    'Arm it with POST /__emulator/faults, which takes rules of any size.',
  )
}

function draftOf(sandbox: Sandbox, id: string, fault: HeaderFault): FaultDraft {
  const preset = presetOf(sandbox.service, fault)
  refuseForeign(preset, fault)
  const { parameters } = fault
  const { actions, places } = changeActions(preset, parameters)
  const raw = {
    id,
    preset: preset.name,
    when: whenOf(preset, parameters),
    ...(places.size === 0 ? {} : { do: actions }),
    ...Object.fromEntries(
      AS_IN_RULE.flatMap((name) => (parameters.has(name) ? [[name, parameters.get(name)]] : [])),
    ),
  }
  const checked = checkDraft(raw, sandbox.service, sandbox.settings)
  if ('draft' in checked) return checked.draft
  const problems = checked.issues.map((issue) => `${blamed(issue, places)} ${issue.detail}`).join('; ')
  throw headerRefusal(`${fault.text}: ${problems}${/[.?]$/.test(problems) ? '' : '.'}`)
}

/** Parameters that are members of a rule. */
const AS_IN_RULE = ['times', 'ttl', 'then'] as const

function presetOf({ presets }: Service, { preset: name }: HeaderFault): Preset {
  const preset = presets.get(name)
  if (preset === undefined) {
    throw headerRefusal(`There is no preset "${name}".${didYouMean(name, [...presets.keys()])}`, ALL_PRESETS)
  }
  if (preset.match === 'everything' || preset.match.webhook === undefined) return preset
  throw headerRefusal(
    `The preset ${name} is about webhooks, which belong to no request.`,
    `Arm it with POST /__emulator/faults {"preset":"${name}"}.`,
  )
}

function refuseForeign(preset: Preset, { parameters }: HeaderFault): void {
  const known = parametersOf(preset)
  for (const name of parameters.keys()) {
    if (known.includes(name)) continue
    const what = isParameter(name)
      ? `The parameter ${name} changes nothing about ${preset.name}.`
      : `There is no parameter "${name}".${didYouMean(name, known)}`
    throw headerRefusal(what, `${preset.name} takes ${known.join(', ')}.`)
  }
}

/** The parameter that an issue of the rule comes from, or the place in the rule. */
function blamed({ pointer }: Issue, places: ReadonlyMap<string, string>): string {
  const [, parameter] = [...places].find(([place]) => pointer.startsWith(place)) ?? []
  return parameter ?? /^\/(?:when\/)?([a-z]+)/.exec(pointer)?.[1] ?? pointer
}

// Every other text is another rule, so that a client could fill the sandbox: what has waited longest has to go.
function makeSpace(sandbox: Sandbox, scope: Pick<Scope, 'tx'>, wanted: readonly string[]): void {
  const others = ([...sandbox.store.rows(faultRules.name).values()] as FaultRule[]).filter(
    ({ source, id }) => source === 'header' && !wanted.includes(id),
  )
  const surplus = others.length + wanted.length - MAX_HEADER_RULES
  if (surplus <= 0) return
  const lastUse = ({ id, armed_at }: FaultRule): number => {
    const counter = sandbox.store.get(faultCounters.name, id) as FaultCounter | undefined
    return Date.parse(counter?.last_at ?? armed_at)
  }
  // A stable sort: of equals, the one that was armed first.
  const oldest = others.map((rule) => ({ id: rule.id, at: lastUse(rule) })).sort((a, b) => a.at - b.at)
  for (const { id } of oldest.slice(0, surplus)) disarm(scope, id)
}
