import { expect, test } from 'vitest'
import { compilePattern } from './pattern.ts'

const TEXTS = ['', 'aa', '\ud83d', ...'aA1_-]:\n\r\u2028\v\b\u00a0α\u{1f600}']

const PATTERNS = String.raw`
  \s \S [\s] [^\s] [\S] ^.$ \b [\b] \w \D [\D] [] [^] ^$ [a-]
  [[:alpha:]\] \ud83d\ude00 \u{1f600} \p{Script=Greek} \p{Lu} \p{Letter} \cA \- a{2,3}?
  (a)\1 (?<n>a)\k<n> (?<n>a) (?=a) (?!a) (?<=a)a (?:a|)$
`

test.for(PATTERNS.trim().split(/\s+/))('any engine accepts the texts that RegExp accepts: %s', (source) => {
  const pattern = compilePattern(source)
  if (typeof pattern === 'string') throw new Error(pattern)
  const expression = new RegExp(source, pattern.flags)
  const accepted = TEXTS.filter((text) => pattern.test(text))
  expect(accepted).toEqual(TEXTS.filter((text) => expression.test(text)))
})
