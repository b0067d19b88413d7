import { z } from 'zod'
import { choice, type Reliance } from '../../core/assumptions.ts'
import { codePoints } from '../../core/fields.ts'
import { IssueList, MAX_ISSUES } from '../../core/issue-list.ts'
import { isObject } from '../../core/json.ts'
import { REQUIRED } from '../../core/zod-issues.ts'

/** One submitted item, with the names of the record; settings define the names in the API. */
export interface BatchItem {
  readonly custom_id: string
  readonly file_id: string
  /** From 1; only for files of a paged format. */
  readonly page?: number
}

/** Specification: Limits / Batch predictions. */
export const MAX_BATCH_ITEMS = 5_000
const MAX_CUSTOM_ID_LENGTH = 128

export const emptyCustomIds = choice({
  key: 'batch.empty_custom_id',
  item: 'U050',
  description: 'Decides what happens to an item whose custom_id is the empty string: refused or accepted.',
  values: ['reject', 'accept'],
})

/** The form of items in their source: a request or a record. */
interface ItemForm {
  /** Name of the field that refers to the file. */
  readonly file: string
  /** Whether an empty `custom_id` is accepted (U050). */
  readonly emptyIds: boolean
  /** Whether an unknown field is an issue (U018). */
  readonly refuseUnknown: boolean
}

/** Receives one issue: its path below the list, a text, the custom_id of the item, and the assumptions of the rule. */
export type Complain = (
  path: readonly PropertyKey[],
  detail: string,
  customId?: string,
  assumed?: Reliance,
) => void

/**
 * Reads a list of items and reports all its issues. Written by hand instead of with zod, because this is the only large input.
 * After an issue the returned list must not be used.
 */
export function readItems(value: unknown, form: ItemForm, complain: Complain): BatchItem[] {
  if (!Array.isArray(value)) {
    complain([], value === undefined ? REQUIRED : 'must be an array of items')
    return []
  }
  if (value.length < 1 || value.length > MAX_BATCH_ITEMS) {
    complain([], `must have 1 to ${MAX_BATCH_ITEMS} items, and has ${value.length}`)
    return []
  }
  const seen = new Set<string>()
  return value.map((raw: unknown, index) => {
    const item = readItem(raw, index, form, complain)
    const { custom_id } = item
    if (typeof custom_id !== 'string') return item
    // One look-up instead of two: if the set does not grow, it already had the id.
    const known = seen.size
    seen.add(custom_id)
    if (seen.size === known) {
      const first = value.findIndex((each) => isObject(each) && each.custom_id === custom_id)
      const detail = `is already the custom_id of the item at index ${first}; a custom_id occurs once in a batch`
      complain([index, 'custom_id'], detail, custom_id)
    }
    return item
  })
}

// At most 128 UTF-16 units are at most 128 code points: only longer ids have to be counted.
function isCustomId(id: string, emptyIds: boolean): boolean {
  if (id === '') return emptyIds
  return id.length <= MAX_CUSTOM_ID_LENGTH || codePoints(id) <= MAX_CUSTOM_ID_LENGTH
}

function readItem(
  raw: unknown,
  index: number,
  { file, emptyIds, refuseUnknown }: ItemForm,
  complain: Complain,
): BatchItem {
  if (!isObject(raw)) {
    complain([index], 'must be an object')
    return {} as BatchItem
  }
  const { custom_id, page } = raw
  const file_id = raw[file]
  const name = typeof custom_id === 'string' ? custom_id : undefined
  if (custom_id === undefined) complain([index, 'custom_id'], REQUIRED)
  else if (name === undefined) complain([index, 'custom_id'], 'must be a string')
  else if (!isCustomId(name, emptyIds)) {
    const bounds = emptyIds ? `at most ${MAX_CUSTOM_ID_LENGTH}` : `1 to ${MAX_CUSTOM_ID_LENGTH}`
    const assumed: Reliance | undefined = name === '' ? ['U050', emptyCustomIds] : undefined
    complain([index, 'custom_id'], `must have ${bounds} characters (Unicode code points)`, name, assumed)
  }
  if (file_id === undefined) complain([index, file], REQUIRED, name)
  else if (typeof file_id !== 'string' || file_id === '')
    complain([index, file], 'must be the id of a file: a string that is not empty', name)
  if (page !== undefined && !(Number.isSafeInteger(page) && Number(page) >= 1))
    complain([index, 'page'], 'must be an integer from 1, or be left out', name)
  for (const key of refuseUnknown ? Object.keys(raw) : [])
    if (!['custom_id', 'page', file].includes(key)) complain([index, key], 'is not a known field', name)
  return (page === undefined ? { custom_id, file_id } : { custom_id, file_id, page }) as BatchItem
}

/**
 * A zod schema for a check that is written by hand: its output is the result of the check, and every complaint becomes an
 * issue. `describe` is the JSON Schema that documents it.
 */
export function checkedBy<T>(
  check: (value: unknown, complain: Complain) => T,
  describe: Readonly<Record<string, unknown>>,
) {
  return z
    .unknown()
    .transform((input, context): T => {
      const before = context.issues.length
      const report = (message: string, path: readonly PropertyKey[], params: object): void => {
        context.issues.push({ code: 'custom', message, input, path: [...path], params })
      }
      const unlisted = new IssueList()
      const value = check(input, (path, message, custom_id, assumed) => {
        if (context.issues.length - before >= MAX_ISSUES) unlisted.leaveOut({ problems: 1 })
        else
          report(message, path, {
            ...(custom_id !== undefined && { custom_id }),
            ...(assumed && { assumed }),
          })
      })
      for (const remainder of unlisted) report(remainder.detail, [], { remainder })
      return context.issues.length > before ? z.NEVER : value
    })
    .meta(describe)
}
