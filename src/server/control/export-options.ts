import { z } from 'zod'
import { maskedDocument, stableDocument } from '../../core/state/masked.ts'
import type { Document } from '../../core/state/state.ts'
import { flag } from './route.ts'

/** The query of an export: with the secrets that sign webhooks, and without real instants. */
export const exportOptions = () => ({
  query: z.strictObject({ secrets: flag(), stable: flag() }).prefault({}),
})

/** A state document as an export shows it. */
export function exportedDocument(
  document: Document,
  { secrets, stable }: z.output<ReturnType<typeof exportOptions>['query']>,
): Document {
  const shown = secrets ? document : maskedDocument(document)
  return stable ? stableDocument(shown) : shown
}
