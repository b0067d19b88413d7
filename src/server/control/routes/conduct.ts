import { z } from 'zod'
import { conductReport } from '../../../core/conduct/finding.ts'
import { conductOf } from '../../../core/conduct/report.ts'
import { verdicts } from '../../../core/conduct/verdicts.ts'
import { didYouMean } from '../../../core/did-you-mean.ts'
import { queryInt, queryText, type ShapeOf } from '../../../core/fields.ts'
import { entriesSince } from '../request-entry.ts'
import { route } from '../route.ts'

const conductQuery = () =>
  z
    .strictObject({
      /** How often the clients repeat a failed call. Without it, a client that does not retry is right. */
      retries: queryInt(0, 100).optional(),
      /** Codes of verdicts that do not count, separated by commas. */
      except: queryText().superRefine(refuseUnknownCodes).transform(codesIn).optional(),
      /** Only requests from this virtual instant on, or after the request with this id. */
      since: queryText().optional(),
    })
    .prefault({})

/** What a report on the conduct of clients takes into account. */
export type ConductOptions = ShapeOf<typeof conductQuery>

/** The report on the conduct of the clients. */
export const conductRoutes = [
  route('GET /conduct', {
    name: 'conduct',
    summary: 'Judge how the clients have behaved: waits, retries, keys, pages, polls, connections',
    returns: 'The findings with their requests, the most severe first, and what the log cannot show.',
    input: () => ({ query: conductQuery() }),
    output: conductReport,
    handle: ({ sandbox, query: { since, ...options } }) => ({
      body: conductOf(sandbox, entriesSince(sandbox, since, '/query/since'), options),
    }),
  }),
] as const

function codesIn(text: string): string[] {
  const codes = text.split(',').map((code) => code.trim())
  return codes.filter((code) => code !== '')
}

function refuseUnknownCodes(text: string, context: z.RefinementCtx): void {
  const known = verdicts.map(({ code }) => code)
  for (const code of codesIn(text).filter((each) => !known.includes(each))) {
    const message = `"${code}" is not the code of a verdict.${didYouMean(code, known)} Codes: ${known.join(', ')}`
    context.addIssue({ code: 'custom', message })
  }
}
