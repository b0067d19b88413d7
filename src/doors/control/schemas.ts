import type * as z from 'zod'
import { anyObject } from '../../kernel/fields.ts'

/** A JSON object whose members are judged elsewhere: a record, a document, a patch. */
export const jsonObject = (): z.ZodType<Record<string, unknown>> => anyObject().meta({ type: 'object' })
