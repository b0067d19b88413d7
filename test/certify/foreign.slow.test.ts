import { expect, test } from 'vitest'
import { resultsOf, writtenCards } from './cards.ts'
import { certifyLibrary, FOREIGN, judgedFindings } from './foreign.ts'

test.for(FOREIGN)(
  'every finding about %s was judged, and its card is as it was written; npm run cards updates it',
  async (client) => {
    const cases = await certifyLibrary(client)
    const found = cases.flatMap((each) =>
      each.findings.map(({ severity, code }) => ({
        client,
        case: each.case,
        finding: `${severity} ${code}`,
      })),
    )
    const judged = judgedFindings()
      .filter((each) => each.client === client)
      .map(({ judgement: _, ...each }) => each)
    expect(found).toEqual(judged)
    expect(resultsOf(cases)).toEqual(writtenCards()[client])
  },
)

test('no finding about a library is wrong', () => {
  expect(judgedFindings().filter(({ judgement }) => !judgement.startsWith('right: '))).toEqual([])
})
