import { expect, test } from 'vitest'
import { didYouMean } from './did-you-mean.ts'

const KNOWN = 'name --help copy typo add id nth tag slow-drip lost-response-after-commit start status'.split(
  ' ',
)

test.for([
  ['nht', 'nth'],
  ['ad', 'add'],
  ['tpyo', 'typo'],
  ['--hlep', '--help'],
  ['slow-drpi', 'slow-drip'],
  ['stauts', 'status'],
  ['slow', 'slow-drip'],
  ['lost-resp', 'lost-response-after-commit'],
  ['lost_response_after_commit', 'lost-response-after-commit'],
])('the suggestion for %s is %s', ([name, near]) => {
  expect(didYouMean(name as string, KNOWN)).toBe(` Did you mean "${near}"?`)
})

test.for(['', 'x', 'rm', 'key', 'thunder', 'rate', '--hard', 'nope'])('%j gets no suggestion', (name) => {
  expect(didYouMean(name, KNOWN)).toBe('')
})
