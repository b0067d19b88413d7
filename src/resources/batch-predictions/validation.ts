import { pointer } from '../../kernel/json.ts'
import type { Scope } from '../../kernel/operation.ts'
import { type File, files } from '../files.ts'
import type { Batch } from './batch.ts'
import type { BatchItem } from './items.ts'
import { unknownFiles } from './settings.ts'

/** An item that validation finds fault with. */
export interface Rejected {
  readonly index: number
  readonly detail: string
}

/**
 * The items whose file or page does not hold: everything about an item that its request alone cannot tell (T12).
 * Specification: States and transitions / Batch prediction.
 */
export function rejectedItems({ tx, settings }: Pick<Scope, 'tx' | 'settings'>, batch: Batch): Rejected[] {
  const { request, teamspace_id } = batch._emulator
  const acceptUnknown = settings.get(unknownFiles) === 'accept'
  const known = tx.in(files)
  const rejected: Rejected[] = []
  for (let index = 0; index < request.items.length; index++) {
    const item = request.items[index]
    if (item === undefined) continue
    const file = known.get(item.file_id)
    const fault = faultOf(item, file?.teamspace_id === teamspace_id ? file : undefined, acceptUnknown)
    if (fault !== undefined) rejected.push({ index, detail: fault })
  }
  return rejected
}

// A file of another teamspace is spoken of like one that does not exist.
function faultOf(
  { file_id, page }: BatchItem,
  file: File | undefined,
  acceptUnknown: boolean,
): string | undefined {
  if (file === undefined) return acceptUnknown ? undefined : `There is no file with the id "${file_id}".`
  if (!file.readable) return `The file "${file_id}" cannot be accessed.`
  if (!file.supported) return `The file "${file_id}" is of the type ${file.kind}, which batches do not take.`
  if (page === undefined) return undefined
  if (file.pages === null)
    return `The file "${file_id}" is of the type ${file.kind}, which has no pages; leave page out.`
  return page > file.pages ? `The file "${file_id}" has ${file.pages} pages, not ${page}.` : undefined
}

/** The sentence with which a batch fails whose items do not validate. */
export function causeOf(batch: Batch, rejected: readonly Rejected[]): string {
  const [first] = rejected
  if (first === undefined) return 'The items do not validate.'
  const { items } = batch._emulator.request
  const place = `${pointer('items', first.index)} (custom_id "${items[first.index]?.custom_id}")`
  const count =
    rejected.length === 1 ? '1 item does' : `${rejected.length} of the batch's ${items.length} items do`
  const rest = rejected.length === 1 ? '' : ' The result lines name the others.'
  return `${count} not validate: ${place}: ${first.detail}${rest}`
}
