import type { BatchBody } from './create.ts'
import type { BatchItem } from './items.ts'

export type { BatchBody, BatchItem as BatchItemBody }

/** Fields of a batch that override the defaults; `items` may also be a number of items. */
export type BatchChanges = Partial<Omit<BatchBody, 'items'>> & {
  readonly items?: number | readonly BatchItem[]
}

/**
 * Body of `POST /batch-predictions`, with one item by default. If `items` is a number, the items have the ids `item-1`,
 * `item-2`, ... and all refer to the same invoice.
 */
export function aBatch({ items = 1, ...changes }: BatchChanges = {}): BatchBody {
  return {
    prompt: 'Read vendor and total.',
    output_schema: {
      type: 'object',
      properties: { vendor: { type: 'string' }, total: { type: 'number' } },
      required: ['vendor', 'total'],
    },
    model: 'any-model',
    items:
      typeof items === 'number'
        ? Array.from({ length: items }, (_, index) => aBatchItem({ custom_id: `item-${index + 1}` }))
        : items,
    ...changes,
  }
}

/** One item of a batch, about the first invoice of the fixtures `demo`. */
export function aBatchItem(changes: Partial<BatchItem> = {}): BatchItem {
  return { file_id: 'file-invoice-1', custom_id: 'item-1', ...changes }
}
