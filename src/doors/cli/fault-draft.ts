import { type Retiming, retimed } from '../../kernel/faults/retime.ts'
import { isObject, type Json, type JsonObject } from '../../kernel/json.ts'
import { syntaxIssue } from '../json-text.ts'
import { ask } from './control-client.ts'
import type { FAULT_OPTIONS, Invocation } from './invocation.ts'
import { issueLine, readJson } from './json-files.ts'
import { CommandFailed, UsageError } from './usage.ts'

type Options = Invocation<(typeof FAULT_OPTIONS)[number]>['options']

/** What is to be armed, and the file that it comes from. */
export interface WrittenRule {
  readonly body: Json
  readonly file?: { readonly path: string; readonly text: string }
}

/** The rule that a command line means: a preset, a file or JSON, with what the flags change about it. */
export async function writtenRule(source: string, options: Options): Promise<WrittenRule> {
  const { value, ...rest } = await readSource(source)
  return { ...rest, body: await withFlags(value, options) }
}

async function readSource(source: string): Promise<Pick<WrittenRule, 'file'> & { readonly value: Json }> {
  if (/^\s*[[{]/.test(source)) return { value: inline(source) }
  if (!isPath(source)) return { value: { preset: source } }
  const read = await readJson(source)
  if ('issues' in read)
    throw new CommandFailed(read.issues.map((issue) => issueLine(source, issue)).join('\n'))
  return { value: read.value, file: { path: source, text: read.text } }
}

// Names of presets have neither dots nor slashes.
function isPath(source: string): boolean {
  return /[./\\]/.test(source)
}

function inline(source: string): Json {
  const syntax = syntaxIssue(source)
  if (syntax === undefined) return JSON.parse(source) as Json
  throw new UsageError([
    `<rule>: is not JSON: ${syntax.detail} at character ${syntax.offset + 1}. Put it in single quotes, or give the path of a file.`,
  ])
}

async function withFlags(value: Json, options: Options): Promise<Json> {
  const { id, operation, method, path, by, times, ttl, nth, first, after, every, probability } = options
  const match = present({ operation, method, path })
  const wanted: Retiming = present({ nth, first, after, every, probability, by: listed(by) })
  const rest = present({ id, times, ttl })
  const changes = [match, wanted, rest].some((each) => Object.keys(each).length > 0)
  if (!changes) return value
  if (!isObject(value)) {
    throw new UsageError(['Flags change one rule. Give a rule that is an object, or the list without flags.'])
  }
  const when = await whenOf(value, wanted, times !== undefined, options)
  return {
    ...value,
    ...rest,
    ...(Object.keys(match).length === 0
      ? {}
      : { match: { ...(isObject(value.match) ? value.match : {}), ...match } }),
    ...(when === undefined ? {} : { when }),
  }
}

/** The timing that the flags make of the rule's own, or of its preset's; undefined where they say nothing about it. */
async function whenOf(
  { when, preset }: JsonObject,
  wanted: Retiming,
  isLimited: boolean,
  options: Options,
): Promise<JsonObject | undefined> {
  if (Object.keys(wanted).length === 0 && !isLimited) return undefined
  // Between JSON and the type of a timing there is no difference but the check, which is the emulator's.
  if (isObject(when)) return retimed(when, wanted) as JsonObject
  if (typeof preset !== 'string') return wanted as JsonObject
  const { when: own } = await ask(options, 'GET', `/faults/presets/${encodeURIComponent(preset)}`)
  return retimed(isObject(own) ? own : {}, wanted, isLimited) as JsonObject
}

function listed(by: readonly string[]): Retiming['by'] {
  const [only, ...more] = by as readonly Exclude<Retiming['by'], readonly unknown[] | undefined>[]
  if (only === undefined) return undefined
  return more.length === 0 ? only : [only, ...more]
}

function present<T extends object>(members: T): { [K in keyof T]?: NonNullable<T[K]> } {
  const given = Object.entries(members).filter(([, value]) => value !== undefined)
  return Object.fromEntries(given) as { [K in keyof T]?: NonNullable<T[K]> }
}
