import { expect, test } from 'vitest'
import { round, testChanges } from './contract.ts'
import { judgeOf } from './opened.ts'

testChanges(1)

test('the check of responses notices a change that the contract does not allow', async () => {
  const { responses, document } = await round(1, { only: ['field', 'enum'] })
  const problemOf = judgeOf(document, false)
  const problems = responses.flatMap(({ name, response }) => problemOf(name, response) ?? [])
  expect(problems.join()).toContain('must NOT have additional properties')
  expect(problems.join()).toContain('must be equal to one of the allowed values')
  const judge = judgeOf(document, true)
  const { response } = responses.find(({ name }) => name === 'pages.create') ?? {}
  if (response === undefined) throw new Error('there is no page')
  const text = JSON.stringify({ ...response.body, scope: 'next_generation' })
  expect(judge('pages.create', { ...response, text })).toContain('allowed values')
})
