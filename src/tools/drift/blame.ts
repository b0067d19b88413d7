import { z } from 'zod'
import { type AnySetting, Settings } from '../../core/assumptions.ts'
import { isObject, type Json, type JsonObject, same, valueAt } from '../../core/json.ts'
import type { RunningEmulator } from '../../emulator/emulator.ts'
import {
  contradictionsOf,
  contradictionText,
  documentIssues,
  isPlain,
  ofAnyItem,
  shownValue,
} from './checks.ts'
import type { HarExchange, Place } from './har.ts'
import { type HarRecording, startOf } from './recording.ts'
import { type EmulatedAnswer, repeatRecording, type SendRequest } from './replay.ts'
import { repetitionDifferences, transitionDifferences } from './sequences.ts'
import { shapeOf, unlikeIn } from './shape.ts'
import { ShownSettings } from './shown-settings.ts'

/** Who moved. `value`: nobody, because nothing fixes the value; it is not compared. */
export type Blame = 'emulator' | 'contract' | 'service' | 'open' | 'value'

/** One difference in one exchange. */
export interface DriftDifference {
  readonly blame: Blame
  readonly file: string
  readonly entry: number
  readonly request: string
  readonly detail: string
  /** `mixed`: an open question about which other exchanges show another value. */
  readonly kind?: string
  /** Of an open question: its setting with the value of the service. */
  readonly setting?: AnySetting
  readonly value?: Json
}

/** The differences of some recordings under some settings. */
interface Outcome {
  readonly differences: readonly DriftDifference[]
  readonly answers: ReadonlyMap<HarRecording, readonly EmulatedAnswer[]>
  /** Settings with the names that the service has for clouds and providers. */
  readonly names: JsonObject
}

/** The result of repeating recordings: every difference, and the settings with which the open ones disappear. */
export interface Judged extends Outcome {
  readonly patch: JsonObject
}

/** Differences with one cause. */
export function causeOf({ blame, request, detail, setting, kind }: DriftDifference): string {
  if (setting !== undefined) return `open ${setting.key} ${kind}`
  // Settings, headers and error bodies are those of all operations, and a difference may be about any item of a list.
  const owner = /^(?:status|setting|header|error body) /.test(detail) ? '' : request
  return `${blame} ${owner} ${ofAnyItem(detail)}`
}

/** The most runs in which values of settings are tried. */
const MAX_TRIALS = 40

/** Repeats recordings under some settings, and tries other values where the answers rely on an open question. */
export async function judge(
  recordings: readonly HarRecording[],
  given: Settings,
  emulator: RunningEmulator,
  send?: SendRequest,
): Promise<Judged> {
  const run = (patch: JsonObject) =>
    outcomeOf(
      recordings,
      suggested,
      new Settings({ ...given.overrides, ...patch }, given.strict),
      emulator,
      send,
    )
  const { assumptions } = emulator.sandbox.service
  const shown = new ShownSettings({ service: emulator.sandbox.service, settings: given })
  for (const { recorded } of recordings)
    for (const { exchange, isCompared } of recorded) if (isCompared) shown.add(exchange)
  const { chosen } = shown
  const suggested = { ...given.overrides, ...chosen } as JsonObject
  const first = await run({})
  let [latest, trials, open]: [Outcome, number, DriftDifference[]] = [first, 0, []]
  const attempt = async (patch: JsonObject) => {
    const isValid = assumptions.check({ ...given.overrides, ...patch }).length === 0
    if (!isValid || trials >= MAX_TRIALS) return undefined
    trials += 1
    const next = await run(patch)
    const [before, left] = [latest, next].map(({ differences }) => new Set(differences.map(causeOf)))
    const gone = latest.differences.filter((each) => !left?.has(causeOf(each)))
    const isWorse =
      missingIn(next) > missingIn(latest) || [...(left ?? [])].some((cause) => !before?.has(cause))
    return { next, gone, isWorse }
  }
  const openAs = (key: string, value: Json, gone: readonly DriftDifference[]): void => {
    const setting = assumptions.settings.get(key) as AnySetting
    for (const { kind: _, ...each } of gone) open.push({ setting, value, ...each, blame: 'open' })
  }
  const names = Object.entries(first.names).filter(([key, value]) => {
    const setting = assumptions.settings.get(key) as AnySetting
    return isPlain(value ?? null) && !same(given.get(setting) as Json, value ?? null)
  })
  let patch = { ...Object.fromEntries(names), ...chosen } as JsonObject
  const together = Object.keys(patch).length === 0 ? undefined : await attempt(patch)
  if (together === undefined) patch = {}
  else {
    open = together.gone.filter(({ setting }) => setting !== undefined)
    let others = together.gone.filter(({ setting }) => setting === undefined)
    for (const [key, value] of names) {
      const alone = others.length === 0 ? undefined : await attempt({ [key]: value as Json })
      const causes = new Set(alone?.gone.map(causeOf))
      openAs(
        key,
        value as Json,
        others.filter((each) => causes.has(causeOf(each))),
      )
      others = others.filter((each) => !causes.has(causeOf(each)))
    }
    // The others go to a setting that the same exchange shows, or another one of its operation.
    for (const each of others) {
      const beside =
        open.find(({ file, entry }) => file === each.file && entry === each.entry) ??
        open.find(({ request }) => request === each.request) ??
        open[0]
      if (beside?.setting) openAs(beside.setting.key, beside.value ?? null, [each])
    }
    latest = together.next
  }
  for (const [{ key }, value] of candidatesOf(latest, given, emulator)) {
    if (!latest.differences.some(isUndecided)) break
    const tried = await attempt({ ...patch, [key]: value })
    if (tried === undefined || tried.isWorse || tried.gone.length === 0) continue
    openAs(key, value, tried.gone)
    patch = { ...patch, [key]: value }
    latest = tried.next
  }
  const isMixed = ({ setting }: DriftDifference) =>
    setting !== undefined && (shown.tally.get(setting)?.length ?? 0) > 1
  const left = latest.differences.map((each) => (isMixed(each) ? { ...each, kind: 'mixed' } : each))
  return { ...latest, differences: [...left, ...open], patch }
}

const missingIn = ({ answers }: Outcome) =>
  [...answers.values()].flat().filter((answer) => typeof answer === 'string').length

// Which records a list has follows from requests of others, too, and a recording may have only the first pages.
const isUndecided = ({ blame, kind, detail }: DriftDifference) =>
  kind === 'refusal' || (blame === 'value' && !/ has other items$|^body \/has_more: is false/.test(detail))

/** Other values of the settings that undecided answers rely on, where there are only a few. */
function* candidatesOf({ differences, answers }: Outcome, given: Settings, { sandbox }: RunningEmulator) {
  const { settings, items } = sandbox.service.assumptions
  const entries = new Set(differences.filter(isUndecided).map(({ file, entry }) => `${file} ${entry}`))
  const relied = new Set<string>()
  for (const [{ file, recorded }, list] of answers)
    for (const [n, answer] of list.entries())
      if (typeof answer !== 'string' && entries.has(`${file} ${recorded[n]?.exchange.entry}`))
        for (const item of answer.assumed) relied.add(item)
  // What no answer names can only make the emulator accept or refuse a request.
  const isRefused = differences.some(({ blame, detail }) => blame === 'value' && detail.startsWith('status'))
  const unnamed = (item: string) => isRefused && items.get(item)?.reportedIn === 'nowhere'
  for (const fits of [(item: string) => relied.has(item), unnamed])
    for (const setting of settings.values()) {
      if (!fits(setting.item) || Object.hasOwn(given.overrides, setting.key)) continue
      for (const value of valuesOf(setting.schema()))
        if (!same(value, setting.default as Json)) yield [setting as AnySetting, value] as const
    }
}

function valuesOf(schema: z.ZodType): Json[] {
  if (schema instanceof z.ZodEnum) return schema.options
  if (schema instanceof z.ZodBoolean) return [true, false]
  if (schema instanceof z.ZodUnion) return schema.options.flatMap((each) => valuesOf(each as z.ZodType))
  return []
}

/** @param suggested the settings that the recordings show */
async function outcomeOf(
  recordings: readonly HarRecording[],
  suggested: JsonObject,
  settings: Settings,
  emulator: RunningEmulator,
  send?: SendRequest,
): Promise<Outcome> {
  const answers = new Map<HarRecording, readonly EmulatedAnswer[]>()
  const differences: DriftDifference[] = []
  const names: JsonObject = {}
  for (const recording of recordings) {
    const start = startOf(recording, suggested, settings, emulator.sandbox.service)
    Object.assign(names, start.names)
    const list = await repeatRecording(recording, start.fixtures, settings, emulator, send)
    answers.set(recording, list)
    for (const each of differencesOf(recording, list, settings, emulator)) differences.push(each)
  }
  return { differences, answers, names }
}

function* differencesOf(
  { file, recorded, unrouted }: HarRecording,
  answers: readonly EmulatedAnswer[],
  settings: Settings,
  { sandbox: { service } }: RunningEmulator,
): Iterable<DriftDifference> {
  const { assumptions } = service
  const of = ({ entry, request }: Place, blame: Blame, detail: string, kind?: string): DriftDifference => ({
    ...{ blame, file, entry, request, detail },
    ...(kind && { kind }),
  })
  const contract = (place: Place, detail: string) =>
    of(place, 'contract', detail, detail.includes('is not a known field') ? 'addition' : 'change')
  const [theirs, ours]: [HarExchange[], HarExchange[]] = [[], []]
  for (const place of unrouted) yield of(place, 'contract', 'the document has no such operation', 'addition')
  for (const [n, { exchange, isCompared }] of recorded.entries()) {
    if (!isCompared) continue
    theirs.push(exchange)
    const issues = documentIssues(exchange, settings, true)
    for (const detail of issues) yield contract(exchange, detail)
    const shown = contradictionsOf(exchange, settings, assumptions)
    for (const [setting, shownAs] of shown) {
      const detail = contradictionText([setting, shownAs], settings, exchange.status)
      const value = isPlain(shownAs) ? shownAs : shownValue(shownAs)
      yield { ...of(exchange, 'open', detail), setting, value }
    }
    const answer = answers[n]
    if (answer === undefined || typeof answer === 'string') continue
    const { exchange: own, expected } = answer
    ours.push(own)
    const known = new Set(issues.map(placeOf))
    const wrong = [
      ...documentIssues(own, settings, false),
      ...contradictionsOf(own, settings, assumptions).map((each) =>
        contradictionText(each, settings, own.status),
      ),
    ].filter((detail) => !known.has(placeOf(detail)))
    for (const detail of wrong) yield of(exchange, 'emulator', detail)
    if (wrong.length > 0 || exchange.missing !== undefined) continue
    if (own.status === exchange.status) {
      for (const detail of unlikeBodies(expected, own))
        if (!known.has(placeOf(detail))) yield of(exchange, 'value', detail)
    } else if (!shown.some(([, value]) => value === exchange.status) && !known.has('status')) {
      const detail = `status: ${own.status} instead of ${exchange.status}`
      // What the document does not allow, the emulator may refuse.
      const mayRefuse = issues.some((each) => /^(?:query|request body) /.test(each))
      if (exchange.status >= 300 || own.status < 400) yield of(exchange, 'value', detail)
      else if (!mayRefuse) yield of(exchange, 'emulator', detail, 'refusal')
    }
  }
  for (const each of [...transitionDifferences(theirs, service), ...repetitionDifferences(theirs)])
    yield contract(...each)
  for (const each of [...transitionDifferences(ours, service), ...repetitionDifferences(ours)])
    yield of(each[0], 'emulator', each[1])
}

/** The part of a text that names the place. */
const placeOf = (detail: string) => ofAnyItem(detail.replace(/:.*/s, ''))

function unlikeBodies(theirs: Json | undefined, { received: ours, status }: HarExchange): string[] {
  if (theirs === undefined || ours === undefined) return []
  const place = status >= 400 ? 'error body' : 'body'
  const shapes = unlikeIn(shapeOf([theirs]), shapeOf([ours])).filter(({ at }) => !at.includes('*'))
  const found = shapes.map(({ at, detail }) => `${place} ${at}: ${detail}`)
  const [before, after] = [theirs, ours].map(idsIn)
  if (before === undefined || after === undefined || same(before, after)) return found
  const isMoved = same([...before].sort(), [...after].sort())
  found.push(`${place} /data: ${isMoved ? 'has another order' : 'has other items'}`)
  return found
}

/** The ids of the items of a list, in order. */
function idsIn(body: Json): Json[] | undefined {
  const rows = Array.isArray(body) ? body : valueAt(body, '/data')
  if (!Array.isArray(rows)) return undefined
  return rows.map((row) => (isObject(row) ? (row.custom_id ?? row.id ?? null) : null))
}
