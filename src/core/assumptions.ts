import { z } from 'zod'
import { didYouMean } from './did-you-mean.ts'
import { IssueList } from './issue-list.ts'
import { type Immutable, type Issue, type Json, pointer } from './json.ts'
import { memoize } from './memoize.ts'
import { sentence } from './words.ts'
import { parsed, zodIssues } from './zod-issues.ts'

/** An exchange with the real service, as a client has recorded it. */
export interface RecordedExchange {
  /** Name of the operation. */
  readonly operation: string
  readonly status: number
  readonly query: Readonly<Record<string, string | readonly string[]>>
  /** Headers of the response, by lower-case name. */
  readonly headers: Readonly<Record<string, string>>
  /** The body of the request; undefined if there was none or it was not recorded. */
  readonly sent: Json | undefined
  /** The body of the response; of a stream, the list of its lines. */
  readonly received: Json | undefined
}

/**
 * A choice that the specification leaves open and that a user can make.
 * `strict` is the value under `--strict`, for a setting whose default would invent something.
 */
export interface Setting<T> {
  /** Dotted, snake_case, unique: the key in a settings file. */
  readonly key: string
  /** The id of the assumption that this setting decides. */
  readonly item: string
  /** One sentence for the reference table. */
  readonly description: string
  readonly schema: () => z.ZodType<T>
  readonly default: NoInfer<T>
  readonly strict?: NoInfer<T>
  /** The problem of a value beside the values of other settings; undefined if it has none. */
  readonly clash?: (value: NoInfer<T>, settingOf: (key: string) => unknown) => string | undefined
  /** The value under which the emulator would respond as in an exchange; undefined if the exchange does not show it. */
  readonly observe?: (exchange: RecordedExchange) => NoInfer<T> | undefined
}

// biome-ignore lint/suspicious/noExplicitAny: settings of every value type are in one list; each checks its own value.
export type AnySetting = Setting<any>

/**
 * An assumption that a response relies on, and those of its settings that the response reads. It is settled when all of these
 * are given; without settings it is always open.
 */
export type Reliance = readonly [item: string, ...settings: readonly AnySetting[]]

/**
 * One decision where the specification is silent. `reportedIn`: in the response header `X-Emulator-Assumed`; only in the
 * request log, because nearly every response relies on it; or nowhere, because no response relies on it.
 */
export const assumption = () =>
  z.strictObject({
    /** `U` and three digits for what is left open, `T` and two for an ambiguity. */
    id: z.string(),
    /** The question that the specification leaves open. */
    open: z.string(),
    /** The behaviour of the emulator, and the reason for it. */
    decision: z.string(),
    reportedIn: z.enum(['response', 'log', 'nowhere']),
    /** Why no response names it; absent when responses do. */
    unnamed: z.string().exactOptional(),
    /** Why responses name it also when all of its settings are given; absent when they do not. */
    unsettled: z.string().exactOptional(),
  })

export type Assumption = Immutable<z.output<ReturnType<typeof assumption>>>

/** An assumption that is named by the responses that rely on it. @param unsettled why no setting can decide it */
export function inResponse(id: string, open: string, decision: string, unsettled?: string): Assumption {
  return { id, open, decision, reportedIn: 'response', ...(unsettled !== undefined && { unsettled }) }
}

/** An assumption that nearly every response relies on. */
export function inLog(id: string, open: string, decision: string): Assumption {
  return { id, open, decision, reportedIn: 'log' }
}

/** An assumption that no response names, and why. */
export function unnamedItem(id: string, open: string, decision: string, unnamed: string): Assumption {
  return { id, open, decision, reportedIn: 'nowhere', unnamed }
}

/** The assumptions of one resource and their settings. */
export interface Assumptions {
  readonly items: readonly Assumption[]
  readonly settings: readonly AnySetting[]
}

/** Declares a setting. */
export function setting<T>(options: Setting<T>): Setting<T> {
  return options
}

/** Declares a setting whose value is one of several words. The first is the default. */
export function choice<const T extends string>({
  values,
  ...options
}: Omit<Setting<T>, 'schema' | 'default'> & { readonly values: readonly [T, ...T[]] }): Setting<T> {
  return { ...options, schema: () => z.enum(values), default: values[0] }
}

/** All assumptions of all resources, by id, with their settings. */
export class AssumptionCatalog {
  readonly items: ReadonlyMap<string, Assumption>
  readonly settings: ReadonlyMap<string, Setting<unknown>>
  /** Values of the response header, by the assumptions in the order in which they were noted. */
  readonly #shown = memoize((ids) =>
    ids
      .split(',')
      .filter((id) => this.items.get(id)?.reportedIn === 'response')
      .sort()
      .join(','),
  )

  constructor(resources: readonly Assumptions[]) {
    const items = resources.flatMap((resource) => resource.items).sort((a, b) => (a.id < b.id ? -1 : 1))
    this.items = unique(items, (item) => item.id)
    this.settings = unique(
      resources.flatMap((resource) => resource.settings),
      (each) => each.key,
    )
  }

  /** The value of the response header: those of the given assumptions that are reported there. */
  shownOf(items: ReadonlySet<string>): string {
    return items.size === 0 ? '' : this.#shown([...items].join())
  }

  /** All issues of a settings object, by JSON Pointer. The issue of an unknown key suggests the most similar known one. */
  check(values: Readonly<Record<string, unknown>>): Issue[] {
    const issues = new IssueList()
    const keys = [...this.settings.keys()]
    const settingOf = (name: string) =>
      Object.hasOwn(values, name) ? values[name] : this.settings.get(name)?.default
    issues.addUnknown(Object.keys(values), keys, (key) => ({
      pointer: pointer(key),
      detail: `There is no setting "${key}".${didYouMean(key, keys) || ' "workspace-emulator settings get" lists every setting.'}`,
    }))
    for (const [key, value] of Object.entries(values)) {
      const known = this.settings.get(key)
      if (known === undefined) continue
      const result = parsed(known.schema(), value)
      // Reported at each given key: the other ones may have their defaults.
      const clash = result.success ? known.clash?.(value, settingOf) : undefined
      if (clash !== undefined) issues.push({ pointer: pointer(key), detail: clash })
      if (!result.success)
        for (const { detail, ...issue } of zodIssues(result.error, pointer(key)))
          issues.push({ ...issue, detail: `${sentence(detail)} ${known.description}` })
    }
    return issues
  }
}

/** The settings in force in one sandbox. Immutable: a change of settings creates a new object. */
export class Settings {
  readonly overrides: Readonly<Record<string, unknown>>
  readonly strict: boolean
  /** Whether any setting is given. */
  readonly isChosen: boolean
  /** A key for caches: equal for settings with the same values. */
  readonly text: string
  readonly #read = new Map<string, unknown>()

  /** The catalog must have checked the overrides. */
  constructor(overrides: Readonly<Record<string, unknown>> = {}, strict = false) {
    this.overrides = overrides
    this.strict = strict
    this.isChosen = Object.keys(overrides).length > 0
    this.text = JSON.stringify([overrides, strict])
  }

  get<T>(setting: Setting<T>): T {
    const { key, schema } = setting
    if (!Object.hasOwn(this.overrides, key))
      return this.strict && setting.strict !== undefined ? setting.strict : setting.default
    // Parsed, so that absent fields get their defaults. Only once, because handlers read settings for every request.
    if (!this.#read.has(key)) this.#read.set(key, schema().parse(this.overrides[key]))
    return this.#read.get(key) as T
  }

  /** Whether all of these settings are given, also with the value of the default. False for an empty list. */
  settle(settings: readonly AnySetting[]): boolean {
    return settings.length > 0 && settings.every(({ key }) => Object.hasOwn(this.overrides, key))
  }
}

/** The maximum number of choices of settings whose values are kept. */
const MAX_CHOICES = 16

/**
 * A function that creates a value, such as a schema, once for all settings with the same values. zod compiles a schema at its
 * first use, which takes far longer than later uses.
 */
export function memoizeBySettings<Owner extends object, T>(
  make: (owner: Owner, settings: Settings) => T,
): (owner: Owner, settings: Settings) => T {
  const made = new WeakMap<Owner, Map<string, T>>()
  return (owner, settings) => {
    const choices = made.get(owner) ?? new Map<string, T>()
    made.set(owner, choices)
    const known = choices.get(settings.text)
    if (known !== undefined) return known
    const value = make(owner, settings)
    choices.set(settings.text, value)
    if (choices.size > MAX_CHOICES) choices.delete(choices.keys().next().value as string)
    return value
  }
}

/** Declarations by their names. Throws when two have the same one. */
export function unique<T>(list: readonly T[], key: (each: T) => string): ReadonlyMap<string, T> {
  const map = new Map<string, T>()
  for (const each of list) {
    if (map.has(key(each))) throw new Error(`${key(each)} is declared twice`)
    map.set(key(each), each)
  }
  return map
}
