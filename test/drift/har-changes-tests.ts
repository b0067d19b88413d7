import { expect, test } from 'vitest'
import type { harChanges } from './har-changes.ts'
import { driftOf, expectNone, findingTexts, recorded } from './recorded.ts'

/** Tests that a change of a recording is found, and nothing else. */
export function testHarChanges(changes: typeof harChanges): void {
  test.each(changes)('a change is found: $finding', async ({ change, finding, settings }) => {
    const har = await recorded()
    change(har)
    const report = await driftOf(har)
    if (settings !== undefined) {
      const opened = Object.keys(settings).map((key) => `open ${key}`)
      expect([findingTexts(report).toSorted(), report.settings]).toEqual([opened.toSorted(), settings])
      return expectNone(await driftOf(har, { settings: settings as never }))
    }
    const texts = report.findings.map(
      ({ blame, request, detail, count }) =>
        `${blame} ${request}: ${detail}${count > 1 ? ` (in ${count} entries)` : ''}`,
    )
    expect(texts).toEqual([`contract ${finding}`])
  })
}
