import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { command, temporaryFile } from '../cli/in-process.ts'
import { harOf } from '../real-service/record.ts'
import { answered, hasUsualOrder, withoutBugs } from './planted.ts'
import { driftOf, expectNone } from './recorded.ts'

test('--write-settings has the answers to ten open questions, with which nothing is left', async () => {
  const others = withoutBugs(await answered()).filter(hasUsualOrder)
  const traffic = temporaryFile('traffic.har', harOf(others))
  const file = temporaryFile('settings.json', '{}')
  const first = await command(['drift', traffic, '--write-settings', file, '--fail-on', 'emulator', '--json'])
  const { findings } = JSON.parse(first.out)
  expect([first.code, findings.length]).toEqual([0, 10])
  const settings = JSON.parse(readFileSync(file, 'utf8'))
  expect(settings).toMatchObject({
    'success.create': 201,
    'success.overrides': {
      'skills.promote': 200,
      'batch-predictions.create': 202,
      'batch-predictions.cancel': 200,
    },
    'names.cloud_b': 'stratus',
    'names.cloud_a': 'nimbus',
  })
  expectNone(await driftOf(harOf(others), { settings }))
})

test('a list in another order than the others is an open question that no value answers', async () => {
  const { out } = await command(['drift', temporaryFile('traffic.har', harOf(withoutBugs(await answered())))])
  expect(out).toContain('U020 lists.order: "oldest", while other exchanges show another value: ')
})
