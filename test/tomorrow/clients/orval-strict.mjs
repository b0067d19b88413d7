// The zod schemas that orval generates with the option strict.
import { checkedCalls, report } from './calls.mjs'

const schemas = new Map(Object.entries(await import('generated/orval-strict.ts')))

/** `pages.create`: `pagesCreateResponse`. */
const schemaOf = (name) =>
  schemas.get(`${name.replaceAll(/[.-](\w)/g, (_, letter) => letter.toUpperCase())}Response`)

await report(checkedCalls((name, body) => schemaOf(name).parse(body)))
