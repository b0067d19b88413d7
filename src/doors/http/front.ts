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
      req.url = originForm(req.url ?? '', req.headers.host ?? '')
      if (api.owns(req.url)) void api.answer(req, res)
      else if (req.url.startsWith('/')) void loadApp().then((app) => app(req, res))
      else void api.turnAway(req, res, noPath(req.url))
    },
    {
      renderParserError: (problem) => {
        const { headers, text } = api.wireAnswer(problem)
        return { headers, body: text ?? '' }
      },
      refuse: (req, res, { code, status, detail }) =>
        void api.turnAway(req, res, new Refusal(code, { detail, status })),
      accepted: (socket, id) => api.accept(socket, id),
    },
  )
}

// Express would answer some of these by itself, as a page of HTML.
function noPath(target: string): Refusal {
  return new Refusal('route_not_found', {
    detail: `The request target "${target}" is neither a path nor a URL of the host that the Host header names.`,
    mitigation: 'Send a path that starts with a slash.',
  })
}

// Clients that are told of a proxy send whole URLs, which every server has to take (RFC 9112, section 3.2.2). One that
// names another host than the Host header is left as it is: nothing is served there.
function originForm(target: string, host: string): string {
  const [, authority, path] = /^https?:\/\/([^/?#]*)(.*)$/i.exec(target) ?? []
  if (authority === undefined || path === undefined || authority.toLowerCase() !== host.toLowerCase())
    return target
  return path.startsWith('/') ? path : `/${path}`
}
