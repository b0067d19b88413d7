import { requirements } from './requirements.ts'

/** `U001` to `U081`: open items of the specification; `T01` to `T40`: places where it contradicts itself. */
const numbered = (letter: string, digits: number, last: number) =>
  Array.from({ length: last }, (_, index) => ({ name: letter + String(index + 1).padStart(digits, '0') }))

/** The tags of tests: `vitest run --tags-filter=R131` runs the tests of a requirement. A tag that is not listed is an error. */
export const tags = [
  ...requirements.map(({ id }) => ({ name: id })),
  ...numbered('U', 3, 81),
  ...numbered('T', 2, 40),
]
