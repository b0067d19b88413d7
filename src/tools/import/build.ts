import type { Settings } from '../../core/assumptions.ts'
import { IssueList } from '../../core/issue-list.ts'
import { isObject, type Json, type JsonObject, valueAt } from '../../core/json.ts'
import { Pseudonyms } from '../../core/redaction.ts'
import { listOrder } from '../../core/request/pagination.ts'
import type { Service } from '../../core/service.ts'
import { acceptRecord, brokenRecords } from '../../core/state/intake.ts'
import { Store } from '../../core/state/store.ts'
import { formatDuration, formatInstant, parseInstant, SECOND } from '../../core/time/instant.ts'
import {
  FREE_FIELDS,
  GivenNames,
  type Imported,
  MINIMAL,
  membership,
  NEEDED,
  type RecordDraft,
  WORDS,
} from '../../service/imported.ts'
import type { Collected, Found } from './collect.ts'

interface BuildOptions {
  readonly service: Service
  readonly settings: Settings
  /** The settings that the traffic shows. */
  readonly suggested: JsonObject
  /** The secret of the replacement. */
  readonly secret: string
  readonly keepNames: boolean
  readonly absolute: boolean
  /** The tokens of the keys, by the credentials of the traffic; absent: the keys of demo. */
  readonly tokens?: ReadonlyMap<string, string>
}

/** Records as they are written to a file of fixtures. */
export interface ImportedRecords {
  readonly collections: Record<string, JsonObject[]>
  readonly own: Record<string, JsonObject[]>
  readonly organization: JsonObject
  /** Records that were added because others refer to them. */
  readonly filled: string[]
  /** What was left out, and how often. */
  readonly leftOut: Readonly<Record<string, number>>
  /** Settings with the names that the service has for clouds and providers. */
  readonly names: JsonObject
}

/** The records of what was collected: each fits its collection, and every record that it refers to exists. */
export function build(collected: Collected, options: BuildOptions): ImportedRecords {
  return new Builder(collected, options).build()
}

class Builder {
  readonly #collected: Collected
  readonly #options: BuildOptions
  readonly #rows = new Map<string, Map<string, JsonObject>>()
  readonly #own: Record<string, JsonObject[]> = {}
  readonly #filled: string[] = []
  readonly #leftOut: Record<string, number> = {}
  readonly #at: string

  constructor(collected: Collected, options: BuildOptions) {
    this.#collected = collected
    this.#options = options
    this.#at = formatInstant(collected.newest)
  }

  build(): ImportedRecords {
    const found = this.#withoutNames()
    const parts = new Map<string, Found[]>()
    for (const each of found) {
      const parent = each.kind?.parentOf?.(each)
      if (parent !== undefined) (parts.get(parent) ?? parts.set(parent, []).get(parent))?.push(each)
    }
    const accounts = found.map(({ shown }) => shown.account_id).find((id) => typeof id === 'string')
    const organization_id = accounts ?? 'imported-organization'
    const organization = { id: organization_id, name: 'Imported organization' }
    this.#rows.set('organizations', new Map([[organization_id, organization]]))
    const { succeeded = [], newest } = this.#collected
    const homes = homesOf([...found, ...succeeded])
    const shared: Imported = {
      ...{ organization_id, teamspace_id: homes('') },
      ...{ absolute: this.#options.absolute, names: new GivenNames(this.#options.suggested) },
      isEarliest: this.#collected.succeeded !== undefined,
      partsOf: (parent) => parts.get(parent) ?? [],
    }
    // The newest state was received at the end of an exchange; the earliest ones are in order already.
    const inTime = shared.isEarliest ? found : found.sort((a, b) => (a.at < b.at ? -1 : Number(a.at > b.at)))
    const isOldestFirst = this.#options.settings.get(listOrder) === 'oldest'
    for (const [n, received] of inTime.entries()) {
      // Records whose age no response shows stay in the order of the lists.
      const age = (isOldestFirst ? inTime.length - n : n) * SECOND
      const each = shared.isEarliest ? { ...received, at: formatInstant(newest - age) } : received
      const home = homes(each.credential)
      const drafts = each.kind
        ?.drafts(each, { ...shared, teamspace_id: home })
        .map((draft) => this.#fitting(draft))
      if (drafts?.every((draft) => draft !== undefined)) for (const draft of drafts) this.#put(...draft)
      else this.#keepOwn(each)
    }
    for (const { shown } of succeeded) shared.names.ours('cloud', shown.cloud_provider)
    const author = found.find(({ operation }) => operation === 'skills.promote')?.shown.creator_id
    found.length = 0 // from here on, a large import is in memory once
    for (const each of succeeded) {
      const own = { ...shared, teamspace_id: homes(each.credential) }
      for (const draft of NEEDED[each.operation ?? '']?.(each, own) ?? []) {
        const fitting = this.#isKnown(...draft) ? undefined : this.#fitting(draft)
        if (fitting !== undefined) this.#put(...fitting)
      }
    }
    if (this.#options.tokens === undefined) this.#addKeys(shared)
    else this.#addCallers(this.#options.tokens, homes, String(author ?? ''), shared)
    this.#settle(shared)
    const placed = (lists: Iterable<readonly [string, Iterable<JsonObject>]>) =>
      Object.fromEntries(
        [...lists].map(([name, rows]) => [name, Array.from(rows, (row) => this.#placed(row))]),
      )
    this.#rows.delete('organizations')
    const filled = [...this.#rows].filter(([, rows]) => rows.size > 0)
    return {
      collections: placed(filled.map(([name, rows]) => [name, rows.values()])),
      own: placed(Object.entries(this.#own)),
      ...{ organization, filled: this.#filled, leftOut: this.#leftOut, names: shared.names.settings },
    }
  }

  #withoutNames(): Found[] {
    const { found, secrets } = this.#collected
    const ids = new Set([...found.values()].map(({ shown }) => String(shown.id)))
    const { secret, keepNames, tokens } = this.#options
    // Records that are only read in this process need no other names.
    if (tokens !== undefined) return [...found.values()]
    const kept = { words: WORDS, free: FREE_FIELDS, ids, all: keepNames }
    const names = new Pseudonyms(secret, kept)
    const of = <T>(value: T) => names.inside(secrets.inside(value))
    // What was read is dropped one by one: the records of a large file are in memory once.
    return [...found.keys()].map((key) => {
      const each = found.get(key) as Found // no other key was deleted
      found.delete(key)
      return { ...each, shown: of(each.shown), sent: of(each.sent), params: of(each.params) }
    })
  }

  /** The record without what its collection does not know, such as null for a field that it leaves out; undefined when it does not fit. */
  #fitting([name, record]: RecordDraft): RecordDraft | undefined {
    const { service, settings } = this.#options
    const issues = service.collections.get(name)?.schema(settings).safeParse(record).error?.issues ?? []
    const unknown: (readonly string[])[] = []
    for (const issue of issues) {
      const path = issue.path.map(String)
      if (issue.code === 'unrecognized_keys') for (const key of issue.keys) unknown.push([...path, key])
      else if (path.length > 0 && valueAt(record, path) === null) unknown.push(path)
      else {
        this.#leaveOut(`${name} /${path.join('/')} does not fit: kept as own`)
        return undefined
      }
    }
    for (const path of unknown) this.#leaveOut(`field ${name} /${path.join('/')} is not in the contract`)
    return unknown.length === 0 ? [name, record] : this.#fitting([name, unknown.reduce(without, record)])
  }

  #leaveOut(reason: string): void {
    this.#leftOut[reason] = (this.#leftOut[reason] ?? 0) + 1
  }

  #keepOwn({ own, shown }: Found): void {
    const name = this.#options.service.collections.has(own) ? `${own}-unfit` : own
    this.#own[name] ??= []
    this.#own[name].push({ ...shown, id: String(shown.id) })
  }

  #put(collection: string, record: JsonObject): void {
    const rows = this.#rows.get(collection) ?? new Map()
    this.#rows.set(collection, rows.set(String(record.id), record))
  }

  #isKnown(name: string, { id }: JsonObject): boolean {
    return this.#rows.get(name)?.has(String(id)) || this.#collected.created.has(`${name}/${id}`)
  }

  /** A key for each credential of the traffic, which may do everything in the teamspaces that it has. */
  #addCallers(
    tokens: ReadonlyMap<string, string>,
    homes: (credential: string) => string,
    author: string,
    { organization_id }: Imported,
  ): void {
    const key = {
      organization_id,
      account_admin: true,
      permissions: ['ep:skills:write', 'organization:edit'],
    }
    const gone = this.#collected.succeeded?.map(({ params }) => params.user_id)
    const members = [...(this.#rows.get('memberships')?.values() ?? [])]
    const shown = members.filter(({ user_id }) => !gone?.includes(String(user_id)))
    for (const [credential, token] of tokens) {
      const teamspace_id = homes(credential)
      const own = shown.filter((each) => each.teamspace_id === teamspace_id)
      const user = author || (own.find(({ role }) => role === 'owner') ?? own[0])?.user_id || 'caller'
      const user_id = String(user)
      if (!own.some((each) => each.user_id === user_id))
        // Beyond all that lists have shown.
        this.#put(...membership(teamspace_id, user_id, formatInstant(0)))
      this.#put('api_keys', { id: `key-${token}`, kind: 'user', user_id, token, teamspace_id, ...key })
    }
    // Account admins manage what a service key has created, without a membership that lists would show.
    const teamspace_id = homes('')
    this.#put('api_keys', {
      id: 'key-service',
      kind: 'service',
      token: 'service_drift',
      teamspace_id,
      ...key,
    })
    for (const row of this.#rows.get('teamspaces')?.values() ?? [])
      this.#put('teamspaces', { ...row, _emulator: { organization_id, created_by: 'key-service' } })
  }

  /** The keys of `demo`, for users of the imported teamspaces. */
  #addKeys({ teamspace_id: home, organization_id }: Imported): void {
    const members = [...(this.#rows.get('memberships')?.values() ?? [])]
    const isHome = (each: JsonObject) => each.teamspace_id === home
    const taken = new Set<Json | undefined>()
    const member = (
      name: string,
      teamspace_id: string,
      role: string,
      fits: (each: JsonObject) => boolean,
    ) => {
      let found = members.find((each) => fits(each) && !taken.has(each.user_id))
      if (found === undefined) {
        const id = `membership-imported-${name}`
        found = { id, teamspace_id, user_id: `imported-${name}`, role, created_at: this.#at }
        this.#put('memberships', found)
        this.#filled.push(`memberships/${id}`)
      }
      taken.add(found.user_id)
      return { user_id: found.user_id ?? null, teamspace_id: found.teamspace_id ?? null }
    }
    const owner = member('owner', home, 'owner', (each) => isHome(each) && each.role === 'owner')
    const other = member('member', home, 'member', isHome)
    for (const each of members.filter(isHome)) taken.add(each.user_id)
    const elsewhere = [...(this.#rows.get('teamspaces')?.keys() ?? [])].find((id) => id !== home)
    const outsider = member('outsider', elsewhere ?? 'imported-outside', 'member', (each) => !isHome(each))
    const permissions = ['ep:skills:write', 'organization:edit']
    const keys: Record<string, JsonObject> = {
      live_demo_owner: { ...owner, account_admin: true, permissions },
      live_demo_member: other,
      live_demo_outsider: outsider,
      service_demo: { kind: 'service', teamspace_id: home },
    }
    for (const [token, key] of Object.entries(keys))
      this.#put('api_keys', { id: `key-${token}`, kind: 'user', organization_id, token, ...key })
  }

  /** Adds a minimal record for each that others refer to, and leaves out the records that break another rule. */
  #settle(shared: Imported): void {
    const { service, settings } = this.#options
    const tx = new Store().begin()
    const insert = (name: string, record: JsonObject) => {
      const collection = service.collections.get(name)
      const row = collection && acceptRecord(collection, record, settings, '', new IssueList())
      if (row !== undefined) tx.put(name, row)
    }
    for (const [name, rows] of this.#rows) for (const row of rows.values()) insert(name, row)
    let isSettled = false
    while (!isSettled) {
      isSettled = true
      // One after another: of many records that refer to a missing one, only the first is broken.
      for (const { table, row, issues } of brokenRecords(service, tx)) {
        isSettled = false
        for (const { pointer } of issues) {
          const id = String(valueAt(row, pointer))
          const minimal = MINIMAL[pointer.replace(/.*\//, '')]?.(id, shared, this.#at)
          if (minimal === undefined || this.#rows.get(minimal[0])?.has(id)) continue
          this.#put(...minimal)
          insert(...minimal)
          this.#filled.push(`${minimal[0]}/${id}`)
        }
        if (service.collections.get(table)?.check?.(row, tx).length === 0) continue
        tx.delete(table, row.id)
        this.#rows.get(table)?.delete(row.id)
        this.#leaveOut(`record of ${table}: ${issues[0]?.pointer} names no record`)
      }
    }
  }

  #placed<T extends Json>(value: T, name?: string): T
  #placed(value: Json, name = ''): Json {
    if (this.#options.absolute) return value
    if (Array.isArray(value)) return value.map((each) => this.#placed(each))
    if (isObject(value))
      return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, this.#placed(each, key)]))
    const instant = name.endsWith('_at') && typeof value === 'string' ? parseInstant(value) : undefined
    if (instant === undefined) return value
    const ms = instant.ms - this.#collected.newest
    return `${ms > 0 ? '+' : '-'}${formatDuration(Math.abs(ms))}`
  }
}

function without(record: JsonObject, [first = '', ...rest]: readonly string[]): JsonObject {
  const { [first]: removed, ...others } = record
  return rest.length > 0 && isObject(removed) ? { ...record, [first]: without(removed, rest) } : others
}

/** The teamspace of each credential: the one that its objects name most often. */
function homesOf(found: readonly Omit<Found, 'kind'>[]) {
  const counts = new Map<string, Map<string, number>>()
  for (const { credential, shown, params } of found) {
    const id = shown.teamspace_id ?? params.teamspace_id
    if (typeof id !== 'string') continue
    for (const who of new Set([credential, ''])) {
      const own = counts.get(who) ?? new Map<string, number>()
      counts.set(who, own.set(id, (own.get(id) ?? 0) + 1))
    }
  }
  const most = (who: string) => [...(counts.get(who) ?? [])].sort((a, b) => b[1] - a[1])[0]?.[0]
  return (credential: string) => most(credential) ?? most('') ?? 'imported-teamspace'
}
