import type { Issue, JsonObject } from '../../core/json.ts'
import type { Sandbox } from '../../core/sandboxes/sandbox.ts'
import { counted } from '../../core/words.ts'
import type { Line } from '../../terminal/line.ts'
import { table } from '../../terminal/print.ts'
import { type Comparison, compareTraffic } from './compare.ts'
import { readTraffic, skippedText, type Traffic } from './har.ts'

/** What the exchanges of a HAR file show. */
export interface TrafficReport extends Pick<Traffic, 'base' | 'skipped'>, Omit<Comparison, 'differences'> {
  /** Number of exchanges that were compared. */
  readonly compared: number
  /** How many of these have a body that is not compared. */
  readonly without_body: number
}

/** Compares a HAR file with the contract. Each issue is one difference, or why the file cannot be compared. */
export function checkTraffic(
  document: JsonObject,
  sandbox: Sandbox,
  wanted: string | undefined,
): { readonly issues: readonly Issue[]; readonly traffic?: TrafficReport } {
  const read = readTraffic(document, sandbox.service.operations.values(), wanted)
  if (typeof read === 'string') return { issues: [{ pointer: '', detail: read }] }
  const { differences, ...found } = compareTraffic(read, sandbox)
  const { base, skipped, exchanges } = read
  const without_body = exchanges.filter(({ missing }) => missing !== undefined).length
  const traffic = { base, compared: exchanges.length, without_body, skipped, ...found }
  return { issues: differences, traffic }
}

/** The report, after the differences. */
export function trafficLines(traffic: TrafficReport): Line[] {
  const { base, compared, skipped, settled, settings, remaining } = traffic
  const rows = settled.map(({ item, setting, shows, agrees }) => [
    ...[item, setting ?? 'transition', agrees ? 'as the emulator' : 'differs', shows.join(', ')],
  ])
  const left = Object.keys(skipped).length === 0 ? '' : ` Left out: ${skippedText(skipped)}.`
  const lines: Line[] = [`Compared: ${counted(compared, 'exchange')} with ${base}.${left}`]
  if (rows.length > 0) lines.push('', ...table(['ITEM', 'SETTING', 'EMULATOR', 'TRAFFIC (ENTRIES)'], rows))
  if (Object.keys(settings).length === 0) return lines
  const rest = `${remaining === 0 ? 'no' : remaining} difference${remaining > 1 ? 's remain' : ' remains'}`
  const title = `With these settings (--settings FILE), ${rest}:`
  return [...lines, '', title, JSON.stringify(settings)]
}
