// Each test has a service of its own, `sandbox`, whose time stands still until the test advances it.
import { readFileSync } from 'node:fs'
import { expect, test } from 'agent-workspace-emulator/vitest'
import { describe } from 'vitest'

const fixtures = JSON.parse(readFileSync('fixtures/workspace.json', 'utf8'))

describe('a contract and its scan', () => {
  test.override({ sandboxOptions: { fixtures, scenario: 'unreadable-scan' } })

  test('the contract is read although the scan is not', async ({ sandbox }) => {
    // Call your own client here, with sandbox.baseUrl and sandbox.apiKey; sandbox.fetch is in its place.
    const created = await sandbox.fetch('/batch-predictions', {
      json: {
        prompt: 'Who signed?',
        output_schema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
        model: 'any-model',
        items: [
          { file_id: 'file-contract', custom_id: 'contract' },
          { file_id: 'file-scan', custom_id: 'scan' },
        ],
      },
    })
    const { id } = (await created.json()) as { id: string }

    await sandbox.clock.advance('24h')

    const results = await sandbox.fetch(`/batch-predictions/${id}/results`)
    const lines = (await results.text())
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines).toEqual([
      expect.objectContaining({
        custom_id: 'contract',
        status: 'succeeded',
        output: { name: expect.any(String) },
      }),
      expect.objectContaining({ custom_id: 'scan', status: 'errored', output: null }),
    ])
    await expect(sandbox).toHaveReceived({ operation: 'batch-predictions.create' }, 1)
  })
})
