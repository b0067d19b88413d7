import { isObject, keysOf, pointer, valueAt } from '../json.ts'
import type { CheckedDocument } from './document.ts'
import type { Document, SandboxState } from './state.ts'

/** A part of a document that is invalid. */
export interface UnusablePart {
  /** Its place in the document. */
  readonly pointer: string
  readonly reason: string
  /** The record, or the value of the field. */
  readonly record: unknown
}

/** A document without its invalid parts, and the state that it contains. */
export interface Salvaged {
  readonly document: Document
  readonly state: SandboxState
  readonly setAside: readonly UnusablePart[]
}

type Keys = readonly string[]

/** Objects whose fields are kept or set aside one by one. */
const OPEN = ['settings', 'clock', 'counters']

/**
 * Removes the invalid parts of a document, record by record, until the rest is valid. A record that refers to a removed one
 * is removed too. Fields that a sandbox has once, such as `clock`, cannot be missing.
 * @param fallback the document that replaces invalid parts: with its records of the same ids, and with its fields
 * @returns undefined when nothing usable is left
 */
export function salvage(
  raw: unknown,
  check: (document: unknown) => CheckedDocument,
  fallback: Document,
): Salvaged | undefined {
  return isObject(raw) ? new Salvage(raw, fallback).run(check) : undefined
}

class Salvage {
  readonly #raw: Readonly<Record<string, unknown>>
  readonly #fallback: Readonly<Record<string, unknown>>
  /** Invalid parts by pointer. When the replacement of a part is invalid too, the part is final: it is left out. */
  readonly #found = new Map<string, UnusablePart & { readonly keys: Keys; readonly isFinal: boolean }>()
  /** For each array of the document that is being tried: the positions of its entries in the raw one. */
  #places = new Map<string, readonly number[]>()

  constructor(raw: Readonly<Record<string, unknown>>, fallback: Document) {
    this.#raw = raw
    this.#fallback = fallback as unknown as Readonly<Record<string, unknown>>
  }

  run(check: (document: unknown) => CheckedDocument): Salvaged | undefined {
    for (;;) {
      const document = this.#document()
      const checked = check(document)
      if (!('issues' in checked)) {
        const setAside = [...this.#found.values()].map(({ pointer, reason, record }) => ({
          pointer,
          reason,
          record,
        }))
        return { document: document as unknown as Document, state: checked.state, setAside }
      }
      const before = new Map(this.#found)
      const isProgress = checked.issues.map((issue) => this.#take(issue, before)).includes(true)
      if (!isProgress) return undefined
    }
  }

  /** Notes the part that an issue is about. False when that part has been left out before, or cannot be left out. */
  #take(issue: { readonly pointer: string; readonly detail: string }, before: ReadonlyMap<string, unknown>) {
    const named = this.#placed(keysOf(issue.pointer))
    const keys = this.#unit(named)
    if (keys === undefined) return false
    const at = pointer(...keys)
    const there = this.#found.get(at)
    const inside = pointer(...named.slice(keys.length))
    const detail = inside === '' ? issue.detail : `${inside}: ${issue.detail}`
    if (there === undefined) {
      const record = valueAt(this.#raw, keys)
      this.#found.set(at, { keys, pointer: at, reason: detail, record, isFinal: false })
      return true
    }
    if (!before.has(at)) {
      this.#found.set(at, { ...there, reason: `${there.reason}; ${detail}` })
      return true
    }
    if (there.isFinal) return false
    this.#found.set(at, { ...there, isFinal: true })
    return true
  }

  /** Translates keys to the raw document, where an entry of an array may have another index. */
  #placed(keys: Keys): Keys {
    for (const length of [1, 2]) {
      const places = this.#places.get(pointer(...keys.slice(0, length)))
      const index = keys[length]
      if (places !== undefined && index !== undefined) {
        return [...keys.slice(0, length), String(places[Number(index)] ?? index), ...keys.slice(length + 1)]
      }
    }
    return keys
  }

  /** The record or the field that is set aside for an issue at these keys. */
  #unit(keys: Keys): Keys | undefined {
    const [top, second] = keys
    if (top === undefined) return undefined
    const value = this.#raw[top]
    if (top === 'collections' && isObject(value) && second !== undefined)
      return keys.slice(0, Array.isArray(value[second]) && keys.length > 2 ? 3 : 2)
    const isOpen = OPEN.includes(top) ? isObject(value) : Array.isArray(value)
    return keys.slice(0, isOpen && second !== undefined ? 2 : 1)
  }

  #document(): Record<string, unknown> {
    this.#places = new Map()
    const missing = [...this.#found.values()].flatMap(({ keys }) => keys.slice(0, 1))
    const keys = [...new Set([...Object.keys(this.#raw), ...missing])]
    const entries = keys.map((key) => [key, this.#value([key])] as const)
    return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
  }

  #value(keys: Keys): unknown {
    const [top = ''] = keys
    const found = this.#found.get(pointer(...keys))
    if (found !== undefined) return found.isFinal ? undefined : valueAt(this.#fallback, keys)
    const value = valueAt(this.#raw, keys)
    if (Array.isArray(value) && (keys.length === 1 || top === 'collections'))
      return this.#records(keys, value)
    const isOpen = keys.length === 1 && (top === 'collections' || OPEN.includes(top))
    return isOpen && isObject(value) ? this.#members(keys, value) : value
  }

  #members(keys: Keys, value: Readonly<Record<string, unknown>>): Record<string, unknown> {
    const start = pointer(...keys)
    const lost = [...this.#found.values()].filter((each) => pointer(...each.keys.slice(0, -1)) === start)
    const names = new Set([...Object.keys(value), ...lost.map((each) => each.keys.at(-1) ?? '')])
    const entries = [...names].map((name) => [name, this.#value([...keys, name])] as const)
    return Object.fromEntries(entries.filter(([, member]) => member !== undefined))
  }

  #records(keys: Keys, rows: readonly unknown[]): unknown[] {
    const places: number[] = []
    const kept: unknown[] = []
    const instead = byId(valueAt(this.#fallback, keys))
    for (const [index, row] of rows.entries()) {
      const found = this.#found.get(pointer(...keys, index))
      const record = found === undefined ? row : found.isFinal ? undefined : instead.get(idOf(row))
      if (record === undefined) continue
      places.push(index)
      kept.push(record)
    }
    this.#places.set(pointer(...keys), places)
    return kept
  }
}

function byId(rows: unknown): ReadonlyMap<unknown, unknown> {
  return new Map(Array.isArray(rows) ? rows.map((row) => [idOf(row), row]) : [])
}

function idOf(row: unknown): unknown {
  return isObject(row) && typeof row.id === 'string' ? row.id : row
}
