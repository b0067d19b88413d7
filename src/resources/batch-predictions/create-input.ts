import * as z from 'zod'
import type { Settings } from '../../kernel/assumptions.ts'
import type { FieldKit } from '../../kernel/fields.ts'
import type { JsonObject } from '../../kernel/json.ts'
import { requiredIf, unknownFields } from '../../kernel/open-items.ts'
import { REQUIRED } from '../../kernel/zod-issues.ts'
import { checked } from './checked.ts'
import { type BatchItem, type Complain, MOST_ITEMS, readItems } from './items.ts'
import { checkItemForms, checkScript } from './magic.ts'
import type { Metadata } from './metadata.ts'
import { unknownModel } from './models.ts'
import { metadataSchema, outputSchemaSchema } from './schema.ts'
import { emptyCustomIds, fileRefName, itemsName, models, windowRequired } from './settings.ts'

/** What a creation asks for, under fixed names. */
export interface BatchBody {
  readonly prompt: string
  readonly output_schema: JsonObject
  readonly model: string
  readonly metadata?: Metadata | undefined
  readonly items: readonly BatchItem[]
}

/**
 * The body of a creation: everything that can be judged from the request alone, every fault named at once (T12). What
 * needs a file is left to validation. Specification: Endpoints / Create batch prediction.
 */
export function createBody({ object }: FieldKit, settings: Settings): z.ZodType<BatchBody> {
  const list = settings.get(itemsName) ?? 'items'
  const body = object({
    prompt: z.string(),
    output_schema: outputSchemaSchema(),
    model: modelId(settings),
    completion_window: requiredIf(settings.get(windowRequired), onlyWindow()),
    metadata: metadataSchema(settings.strict ? undefined : checkScript).optional(),
    [list]: itemList(settings),
  })
  // The list goes by a name that a setting gives, and by `items` from here on.
  return body.transform(({ prompt, output_schema, model, metadata, [list]: items }) => {
    return { prompt, output_schema, model, metadata, items } as BatchBody
  })
}

function modelId(settings: Settings) {
  const known = settings.get(models)
  return z
    .string()
    .min(1, { error: 'must not be empty' })
    .superRefine((id, context) => {
      const message = unknownModel(id, known)
      if (message !== undefined) context.addIssue({ code: 'custom', message })
    })
}

function onlyWindow() {
  return z.literal('24h', {
    error: ({ input }) => (input === undefined ? REQUIRED : 'must be "24h", the only window'),
  })
}

function itemList(settings: Settings) {
  const file = settings.get(fileRefName) ?? 'file_id'
  const form = {
    file,
    emptyIds: settings.get(emptyCustomIds) === 'accept',
    refuseUnknown: settings.get(unknownFields) === 'reject',
  }
  const item = {
    type: 'object',
    properties: {
      custom_id: { type: 'string', minLength: form.emptyIds ? 0 : 1, maxLength: 128 },
      [file]: { type: 'string', minLength: 1 },
      page: { type: 'integer', minimum: 1 },
    },
    required: ['custom_id', file],
  }
  const read = (value: unknown, complain: Complain): BatchItem[] => {
    const items = readItems(value, form, complain)
    // Where items are wrong the others have moved up, and what is wrong is told anyway.
    const isWhole = Array.isArray(value) && items.length === value.length
    if (isWhole && !settings.strict) checkItemForms(items, complain)
    return items
  }
  return checked(read, {
    type: 'array',
    minItems: 1,
    maxItems: MOST_ITEMS,
    items: item,
  })
}
