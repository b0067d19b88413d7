import type { Settings } from '../../core/assumptions.ts'
import type { JsonObject } from '../../core/json.ts'
import type { AnyOperation } from '../../core/operation.ts'
import type { Service } from '../../core/service.ts'
import { workspaceService } from '../../emulator/service.ts'
import { RouteTable } from '../../server/route-table.ts'
import { CommandFailed } from '../../terminal/command.ts'
import { build } from '../import/build.ts'
import { Collected } from '../import/collect.ts'
import { harEntries } from '../import/entries.ts'
import {
  baseOf,
  byName,
  commonBase,
  exchangeOf,
  type HarEntry,
  type HarExchange,
  masked,
  type Place,
  pathBelow,
  skippedText,
  whyNot,
} from './har.ts'

/** An exchange of a recording that a sandbox repeats. */
export interface HarRequest {
  readonly har: HarEntry
  readonly exchange: HarExchange
  /** The path after the base URL, as it was sent. */
  readonly path: string
  readonly params: Readonly<Record<string, string>>
  /** False for an operation without a contract: it is only repeated, for its effect. */
  readonly isCompared: boolean
}

/** A HAR file with exchanges with the service, in the order of time. */
export type HarRecording = ReturnType<typeof readRecording>

/** Reads a HAR file. Throws {@link CommandFailed} when it has no exchange with the service. @param wanted base URL; absent: that of most exchanges */
export function readRecording(file: string, wanted: string | undefined) {
  const routes = new RouteTable<AnyOperation>(workspaceService.operations.values())
  const leftOut: Record<string, number> = {}
  const leaveOut = (reason: string): void => {
    leftOut[reason] = (leftOut[reason] ?? 0) + 1
  }
  const entries = [...harEntries(file, leaveOut)]
  const base = wanted === undefined ? commonBase(entries, routes) : baseOf(wanted)
  const [recorded, unrouted]: [HarRequest[], Place[]] = [[], []]
  for (const [entry, har] of entries.entries()) {
    const path = pathBelow(base, har)
    const match = har && path !== undefined ? routes.match(har.request.method, path) : undefined
    const reason = whyNot(har, match)
    if (reason !== undefined || har === undefined || path === undefined) leaveOut(reason ?? 'another address')
    else if (match?.kind !== 'route')
      unrouted.push({ entry, request: `${har.request.method} ${masked(path)}` })
    else {
      const { route, params } = match
      if (!route.contract) leaveOut('operation without a contract')
      if (!route.contract && !hasEffect(route, har)) continue
      const exchange = exchangeOf(entry, har, route)
      recorded.push({ har, exchange, path, params, isCompared: route.contract })
    }
  }
  if (!recorded.some(({ isCompared }) => isCompared) && unrouted.length === 0)
    throw new CommandFailed(
      `${file}: has no exchange with ${base || 'the service'} (${skippedText(leftOut)}). Export the requests of a browser or a proxy as HAR, with content, and give the base URL with --base, such as https://api.example.com/v1.`,
    )
  const start = ({ exchange }: HarRequest) => exchange.start || 0
  recorded.sort((a, b) => start(a) - start(b) || a.exchange.entry - b.exchange.entry)
  const inTime = entries
    .filter((each) => each !== undefined)
    .sort((a, b) => (Date.parse(a.startedDateTime) || 0) - (Date.parse(b.startedDateTime) || 0))
  return { file, base, recorded, unrouted, leftOut, entries: inTime }
}

// A record that was created without a contract is there from the beginning.
function hasEffect({ method, name, isUnanswered }: AnyOperation, { response }: HarEntry): boolean {
  return method !== 'GET' && !name.endsWith('.create') && isUnanswered !== true && response.status < 300
}

/** The token of the sandbox for a credential of the recording. */
export const tokenOf = (credentials: readonly string[], credential: string) =>
  `live_drift_${credentials.indexOf(credential)}`

export const credentialOf = ({ request }: HarEntry) => byName(request.headers).authorization ?? ''

export const credentialsOf = ({ entries }: HarRecording) => [...new Set(entries.map(credentialOf))]

/** Fixtures with the records as they were before the recording, and the names that the service has for clouds and providers. */
export function startOf(
  recording: HarRecording,
  suggested: JsonObject,
  settings: Settings,
  service: Service,
) {
  const collected = new Collected(recording.base, service.operations.values(), undefined, true)
  for (const har of recording.entries) collected.add(har)
  const credentials = credentialsOf(recording)
  const tokens = new Map(credentials.map((each) => [each, tokenOf(credentials, each)]))
  const how = { service, settings, suggested, tokens }
  const built = build(collected, { ...how, secret: '', keepNames: true, absolute: true })
  const { organization, collections, names } = built
  return { fixtures: { organization, collections }, names }
}
