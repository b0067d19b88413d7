import * as z from 'zod'
import { maskedDocument } from '../../core/state/masked.ts'
import { stableDocument } from '../../core/state/stable.ts'
import type { Document } from '../../core/state/state.ts'
import { stableOrNot, withSecretsOrNot } from './route.ts'

/** The query of an export: with the secrets that sign webhooks, and without real instants. */
export const exportOptions = () => ({
  query: z.strictObject({ ...withSecretsOrNot().query.unwrap().shape, ...stableOrNot() }).prefault({}),
})

/** A state document as an export shows it. */
export function exportedDocument(
  document: Document,
  { secrets, stable }: z.output<ReturnType<typeof exportOptions>['query']>,
): Document {
  const shown = secrets === 'true' ? document : maskedDocument(document)
  return stable === 'true' ? stableDocument(shown) : shown
}
