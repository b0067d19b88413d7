import type { RequestListener, Server } from 'node:http'
import { Refusal } from '../../kernel/errors.ts'
import type { Api } from './api.ts'
import { createHttpServer } from './server.ts'

/**
 * The server. Requests of the API go to it directly: Express would hand them on unchanged and cost several times the time
 * of the whole answer. Everything else goes to the Express application, which is loaded when it is first needed.
 */
export function createServer(api: Api, loadApp: () => Promise<RequestListener>): Server {
  return createHttpServer(
    (req, res) => {
      if (api.owns(req.url ?? '')) void api.answer(req, res)
      else void loadApp().then((app) => app(req, res))
    },
    {
      renderParserError: (problem) => {
        const { headers, text } = api.wireAnswer(problem)
        return { headers, body: text ?? '' }
      },
      refuse: (req, res, { status, detail }) =>
        void api.turnAway(req, res, new Refusal('expectation_failed', { detail, status })),
    },
  )
}
