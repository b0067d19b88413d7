import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'

// biome-ignore lint/suspicious/noExplicitAny: OpenAPI documents are looked into at every depth.
type Any = any

/** The codes of errors that the specification shows. */
const SHOWN = ['rate_limit_exceeded', 'mcp_oauth_requires_user_principal']

/** A document whose objects may have further fields, and whose extensible texts may have any value. */
function opened(value: Any): Any {
  if (Array.isArray(value)) return value.map(opened)
  if (typeof value !== 'object' || value === null) return value
  const { enum: values, additionalProperties, ...rest } = value
  const { status_code, error } = value.properties ?? {}
  // The document has a schema for each code of an error.
  if (status_code?.const !== undefined && !SHOWN.includes(error.const)) rest.properties = { status_code }
  const kept = Object.fromEntries(Object.entries(rest).map(([name, each]) => [name, opened(each)]))
  return {
    ...kept,
    ...(additionalProperties !== undefined && additionalProperties !== false && { additionalProperties }),
    ...(values !== undefined && rest['x-extensible'] !== true && { enum: values }),
  }
}

/** The problem of a response under an OpenAPI document; undefined for a valid one. */
export function judgeOf(document: Any, isOpened: boolean) {
  const { paths, components } = isOpened ? opened(document) : document
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  formats.default(ajv)
  ajv.addSchema({ $id: 'api', components })
  const operations = Object.values<Any>(paths).flatMap((methods) => Object.values<Any>(methods))
  return (name: string, { status, headers, text }: { status: number; headers: Headers; text: string }) => {
    const { responses } = operations.find((each) => each.operationId === name) ?? {}
    const { content } = responses?.[status] ?? responses?.default ?? {}
    if (text === '') return content === undefined ? undefined : `${name}: ${status} has no body`
    const media = headers.get('content-type')?.split(';')[0] ?? ''
    const { schema } = content?.[media] ?? {}
    if (schema === undefined) return `${name}: ${status} ${media} is not described`
    const isStream = schema.contentSchema !== undefined
    const validate = ajv.compile(absolute(isStream ? schema.contentSchema : schema))
    const bodies = isStream ? text.trimEnd().split('\n') : [text]
    const bad = bodies.find((body) => !validate(JSON.parse(body)))
    return bad === undefined ? undefined : `${name}: ${status} ${ajv.errorsText(validate.errors)} in ${bad}`
  }
}

function absolute(schema: Any): Any {
  return JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#/', '"$ref":"api#/'))
}
