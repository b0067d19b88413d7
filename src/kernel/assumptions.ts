import { closest, distance } from 'fastest-levenshtein'
import type * as z from 'zod'
import { type Issue, pointer } from './json.ts'

/**
 * One thing that the specification leaves open and that a user may choose.
 * `strict` is the value under `--strict`, where the default would invent something.
 */
export interface Setting<T> {
  /** Dotted, snake_case, unique: the key in a settings file. */
  readonly key: string
  /** The ledger item that this setting answers. */
  readonly item: string
  /** One sentence for the reference table. */
  readonly says: string
  readonly schema: () => z.ZodType<T>
  readonly default: T
  readonly strict?: T
  /** Key of a setting that must not have the same value. */
  readonly unlike?: string
}

/**
 * One item of the assumption ledger.
 * `shows`: in the answer's `X-Emulator-Assumed` header; only in the request log, because it holds for nearly every answer;
 * or nowhere, because no answer rests on it.
 */
export interface OpenItem {
  /** `U` and three digits for what is left open, `T` and two for an ambiguity. */
  readonly id: string
  /** What the specification does not say. */
  readonly open: string
  /** What the emulator does about it, and why. */
  readonly reading: string
  readonly shows: 'answer' | 'log' | 'nowhere'
}

/** What one room declares: the items that its behaviour rests on and their settings. */
export interface Assumptions {
  readonly items: readonly OpenItem[]
  // biome-ignore lint/suspicious/noExplicitAny: settings of every value type stand in one list; each checks its own value.
  readonly settings: readonly Setting<any>[]
}

/** Declares a setting. */
export function setting<T>(options: Setting<T>): Setting<T> {
  return options
}

/** The whole ledger: every item of every room, by id, with its settings. */
export class Ledger {
  readonly items: ReadonlyMap<string, OpenItem>
  readonly settings: ReadonlyMap<string, Setting<unknown>>

  constructor(rooms: readonly Assumptions[]) {
    const items = rooms.flatMap((room) => room.items).sort((a, b) => (a.id < b.id ? -1 : 1))
    this.items = unique(items, (item) => item.id)
    this.settings = unique(
      rooms.flatMap((room) => room.settings),
      (each) => each.key,
    )
  }

  /** The items of an answer that its header names, as the header writes them. */
  shownOf(items: ReadonlySet<string>): string {
    if (items.size === 0) return ''
    return [...items]
      .filter((id) => this.items.get(id)?.shows === 'answer')
      .sort()
      .join(',')
  }

  /** Everything wrong with a settings object, by JSON Pointer; unknown keys are told the nearest known one. */
  check(values: Readonly<Record<string, unknown>>): Issue[] {
    return Object.entries(values).flatMap(([key, value]) => {
      const known = this.settings.get(key)
      if (known === undefined) {
        return [
          {
            pointer: pointer(key),
            detail: `There is no setting "${key}".${didYouMean(key, [...this.settings.keys()])}`,
          },
        ]
      }
      const result = known.schema().safeParse(value)
      if (result.success) return this.#clash(known, values)
      return result.error.issues.map((issue) => ({
        pointer: pointer(key, ...issue.path),
        detail: `${issue.message}. ${known.says}`,
      }))
    })
  }

  // Told at each key of the pair that is given: the other one may be the default.
  #clash({ key, unlike }: Setting<unknown>, values: Readonly<Record<string, unknown>>): Issue[] {
    if (unlike === undefined) return []
    const other = Object.hasOwn(values, unlike) ? values[unlike] : this.settings.get(unlike)?.default
    if (values[key] !== other) return []
    return [{ pointer: pointer(key), detail: `must not have the same value as ${unlike}` }]
  }
}

/** ` Did you mean "x"?`, or nothing when no known name is near. */
export function didYouMean(name: string, known: readonly string[]): string {
  const near = nearest(name, known)
  return near === undefined ? '' : ` Did you mean "${near}"?`
}

function nearest(name: string, known: readonly string[]): string | undefined {
  if (known.length === 0) return undefined
  const near = closest(name, known)
  // Of a short name at least one letter has to stay: every word is as near to it as any other.
  const most = Math.max(Math.min(3, name.length - 1), name.length / 2)
  if (distance(name, near) <= most) return near
  return name.length < 3 ? undefined : known.find((each) => each.startsWith(name))
}

/** The choices in force in one world. Immutable: a change of settings makes a new one, and whatever was derived from the old one goes with it. */
export class Settings {
  readonly overrides: Readonly<Record<string, unknown>>
  readonly strict: boolean
  readonly #read = new Map<string, unknown>()

  /** The overrides have been checked by the ledger. */
  constructor(overrides: Readonly<Record<string, unknown>> = {}, strict = false) {
    this.overrides = overrides
    this.strict = strict
  }

  get<T>(setting: Setting<T>): T {
    if (Object.hasOwn(this.overrides, setting.key)) return this.#override(setting)
    return this.strict && setting.strict !== undefined ? setting.strict : setting.default
  }

  // Parsed, so that members with a default have it; once, because handlers ask for every request.
  #override<T>({ key, schema }: Setting<T>): T {
    if (!this.#read.has(key)) this.#read.set(key, schema().parse(this.overrides[key]))
    return this.#read.get(key) as T
  }
}

function unique<T>(list: readonly T[], key: (each: T) => string): ReadonlyMap<string, T> {
  const map = new Map<string, T>()
  for (const each of list) {
    if (map.has(key(each))) throw new Error(`${key(each)} is declared twice`)
    map.set(key(each), each)
  }
  return map
}
