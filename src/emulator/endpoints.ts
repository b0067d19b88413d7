import { refuseInvalid } from '../core/errors.ts'
import type { Service } from '../core/service.ts'
import { type InternalOptions, startOptions } from './options.ts'
import { serviceFor } from './service.ts'

/** The service of an emulator, with the endpoints of its user. */
export interface OpenEndpoints {
  readonly service: Service
  /** Absent when there are none: then the operations never change. */
  readonly onChange: ((listener: () => void) => void) | undefined
}

/** Loads the endpoints of the option. Refuses wrong definitions. */
export async function openEndpoints(options: InternalOptions): Promise<OpenEndpoints> {
  const { endpoints = startOptions.endpoints.default } = options
  const builtIn = serviceFor(options)
  if (typeof endpoints === 'string') return { service: builtIn, onChange: undefined }
  const [{ EndpointBook }, { checkEndpoints, clashesOf }] = await Promise.all([
    import('../endpoints/book.ts'),
    import('../endpoints/check.ts'),
  ])
  const { definitions, problems } = checkEndpoints([...endpoints], '(given)', builtIn)
  const all = [...problems, ...clashesOf(definitions)]
  refuseInvalid(
    all.map(({ file, line, pointer = '', message }) => ({
      pointer: `/endpoints${pointer}`,
      detail: line === undefined ? message : `${file}:${line}: ${message}`,
    })),
  )
  const book = new EndpointBook(builtIn)
  book.replace(definitions)
  return { service: book.service, onChange: (listener) => book.onChange(listener) }
}
