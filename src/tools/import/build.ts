import type { Settings } from '../../core/assumptions.ts'
import { IssueList } from '../../core/issue-list.ts'
import { isObject, type Json, type JsonObject, valueAt } from '../../core/json.ts'
import { Pseudonyms } from '../../core/redaction.ts'
import type { Service } from '../../core/service.ts'
import { acceptRecord, brokenRecords } from '../../core/state/intake.ts'
import { Store } from '../../core/state/store.ts'
import { formatDuration, formatInstant, parseInstant } from '../../core/time/instant.ts'
import {
  FREE_FIELDS,
  GivenNames,
  type Imported,
  MINIMAL,
  RECEIVED_KINDS,
  REFERENCES,
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
  /** Which user and teamspace each key of `demo` has. */
  readonly keys: readonly JsonObject[]
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
      const parent = RECEIVED_KINDS.find(({ name }) => name === each.kind)?.parentOf?.(each)
      if (parent !== undefined) (parts.get(parent) ?? parts.set(parent, []).get(parent))?.push(each)
    }
    const accounts = found.map(({ shown }) => shown.account_id).find((id) => typeof id === 'string')
    const organization_id = accounts ?? 'imported-organization'
    const organization = { id: organization_id, name: 'Imported organization' }
    this.#rows.set('organizations', new Map([[organization_id, organization]]))
    const homes = homesOf(found)
    const shared: Imported = {
      ...{ organization_id, teamspace_id: homes.of('') },
      ...{ absolute: this.#options.absolute, names: new GivenNames(this.#options.suggested) },
      partsOf: (parent) => parts.get(parent) ?? [],
    }
    for (const each of found.sort((a, b) => (a.at < b.at ? -1 : Number(a.at > b.at)))) {
      const drafts =
        each.kind === undefined
          ? undefined
          : this.#draftsOf(each, { ...shared, teamspace_id: homes.of(each.credential) })
      if (drafts === undefined) this.#keepOwn(each)
      else for (const [collection, record] of drafts) this.#put(collection, record)
    }
    for (const home of homes.all) this.#fill('teamspaces', home, shared)
    this.#fillReferences(shared)
    const keys = this.#keys(shared)
    this.#removeBroken()
    const collections = Object.fromEntries(
      [...this.#rows]
        .filter(([name, rows]) => name !== 'organizations' && rows.size > 0)
        .map(([name, rows]) => [name, [...rows.values()].map((row) => this.#placed(row))]),
    )
    const own = Object.fromEntries(
      Object.entries(this.#own).map(([name, rows]) => [name, rows.map((row) => this.#placed(row))]),
    )
    const names = shared.names.settings
    return { collections, own, organization, filled: this.#filled, leftOut: this.#leftOut, names, keys }
  }

  #withoutNames(): Found[] {
    const { found, secrets } = this.#collected
    const ids = new Set([...found.values()].map(({ shown }) => String(shown.id)))
    const { secret, keepNames } = this.#options
    const kept = { words: WORDS, free: FREE_FIELDS, GivenNames, ids, all: keepNames }
    const names = new Pseudonyms(secret, kept)
    const of = <T>(value: T) => names.inside(secrets.inside(value))
    // What was read is dropped one by one: the records of a large file are in memory once.
    return [...found.keys()].map((key) => {
      const each = found.get(key) as Found // no other key was deleted
      found.delete(key)
      return { ...each, shown: of(each.shown), sent: of(each.sent), params: of(each.params) }
    })
  }

  /** The records of an object; undefined when one does not fit its collection. */
  #draftsOf(each: Found, shared: Imported): readonly RecordDraft[] | undefined {
    const kind = RECEIVED_KINDS.find(({ name }) => name === each.kind)
    const drafts: RecordDraft[] = []
    for (const [name, record] of kind?.drafts(each, shared) ?? []) {
      const fitting = this.#fitting(name, record)
      if (fitting === undefined) return undefined
      drafts.push([name, fitting])
    }
    return drafts
  }

  /** The record without fields that its collection does not know; undefined when it does not fit. */
  #fitting(name: string, record: JsonObject): JsonObject | undefined {
    const { service, settings } = this.#options
    const collection = service.collections.get(name)
    if (collection === undefined) return undefined
    const { error } = collection.schema(settings).safeParse(record)
    if (error === undefined) return record
    const unknown = error.issues.flatMap((issue) =>
      issue.code === 'unrecognized_keys' ? issue.keys.map((key) => [...issue.path, key].map(String)) : [],
    )
    const [first] = error.issues.filter(({ code }) => code !== 'unrecognized_keys')
    if (first !== undefined || unknown.length === 0) {
      this.#leaveOut(`${name} /${first?.path.join('/')} does not fit: kept as own`)
      return undefined
    }
    for (const path of unknown) this.#leaveOut(`field ${name} /${path.join('/')} is not in the contract`)
    return unknown.reduce(without, record)
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

  /** Adds a minimal record, unless there is one with this id. */
  #fill(collection: string, id: string, shared: Imported): void {
    const minimal = MINIMAL[collection]
    if (minimal === undefined || this.#rows.get(collection)?.has(id)) return
    this.#put(collection, minimal(id, shared, this.#at))
    this.#filled.push(`${collection}/${id}`)
  }

  #fillReferences(shared: Imported): void {
    for (const [collection, field, target] of REFERENCES)
      for (const row of this.#rows.get(collection)?.values() ?? []) {
        const id = valueAt(row, field)
        if (typeof id === 'string' && id !== '') this.#fill(target, id, shared)
      }
  }

  /** The keys of `demo` for the imported teamspaces. */
  #keys(shared: Imported): JsonObject[] {
    const home = shared.teamspace_id
    const members = [...(this.#rows.get('memberships')?.values() ?? [])]
    const inHome = members.filter(({ teamspace_id }) => teamspace_id === home)
    const taken = new Set<Json | undefined>(inHome.map(({ user_id }) => user_id))
    const user = (id: string) => {
      this.#fill('users', id, shared)
      return id
    }
    const member = (teamspace_id: string, user_id: string, role: string) => {
      const id = `membership-${teamspace_id}-${user_id}`
      this.#put('memberships', { id, teamspace_id, user_id, role, created_at: this.#at })
      this.#filled.push(`memberships/${id}`)
      return user_id
    }
    const ownerOf = inHome.find(({ role }) => role === 'owner')
    const owner = String(ownerOf?.user_id ?? member(home, user('imported-owner'), 'owner'))
    const second = inHome.find(({ user_id }) => user_id !== owner)
    const other = String(second?.user_id ?? member(home, user('imported-member'), 'member'))
    const strangerOf = members.find((each) => each.teamspace_id !== home && !taken.has(each.user_id))
    const elsewhere = [...(this.#rows.get('teamspaces')?.keys() ?? [])].find((id) => id !== home)
    const outside = String(strangerOf?.teamspace_id ?? elsewhere ?? 'imported-outside')
    this.#fill('teamspaces', outside, shared)
    const stranger = String(strangerOf?.user_id ?? member(outside, user('imported-outsider'), 'member'))
    const common = { kind: 'user', organization_id: shared.organization_id }
    const permissions = ['ep:skills:write', 'organization:edit']
    const keys: JsonObject[] = [
      {
        ...{ id: 'key-owner', ...common, token: 'live_demo_owner', user_id: owner, teamspace_id: home },
        ...{ account_admin: true, permissions },
      },
      { id: 'key-member', ...common, token: 'live_demo_member', user_id: other, teamspace_id: home },
      {
        id: 'key-outsider',
        ...common,
        token: 'live_demo_outsider',
        user_id: stranger,
        teamspace_id: outside,
      },
      { id: 'key-service', ...common, kind: 'service', token: 'service_demo', teamspace_id: home },
    ]
    for (const key of keys) this.#put('api_keys', key)
    return keys
  }

  /** Leaves out the records that break a rule between records. */
  #removeBroken(): void {
    const { service, settings } = this.#options
    const store = new Store()
    for (const [name, collection] of service.collections) {
      const rows = [...(this.#rows.get(name)?.values() ?? [])]
      store.load(
        name,
        rows.flatMap((row) => acceptRecord(collection, row, settings, '', new IssueList()) ?? []),
      )
    }
    for (;;) {
      const tx = store.begin()
      const broken = [...brokenRecords(service, tx)]
      if (broken.length === 0) return
      for (const { table, row, issues } of broken) {
        tx.delete(table, row.id)
        this.#rows.get(table)?.delete(row.id)
        this.#leaveOut(`record of ${table}: ${issues[0]?.pointer} names no record`)
      }
      store.commit(tx, this.#at)
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
function homesOf(found: readonly Found[]) {
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
  const of = (credential: string) => most(credential) ?? most('') ?? 'imported-teamspace'
  return { of, all: new Set(['', ...found.map(({ credential }) => credential)].map(of)) }
}
