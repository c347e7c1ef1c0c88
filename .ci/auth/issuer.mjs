// A real issuer: oidc-provider with resource indicators, dynamic registration and
// introspection. Whoever asks for a login is logged in as "ann" at once. The format
// of access tokens is chosen by the resource's owner, as FORMAT: jwt or opaque.
import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import Provider from 'oidc-provider';

const key = (more) => ({ ...generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' }), ...more });

export const secret = 'a-secret-of-the-introspecting-client';

// With people, whoever asks for a login types a name (and any password) into a form,
// and callback is where the client "tenon" takes browsers back.
export async function startIssuer(format, { people = false, callback = '' } = {}) {
  const server = createServer();
  await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
  const url = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(url, {
    jwks: { keys: [key({ use: 'enc', alg: 'RSA-OAEP', kid: 'for-encryption' }), key({ use: 'sig', alg: 'RS256', kid: 'for-signatures' })] },
    cookies: { keys: ['one'] },
    scopes: ['openid', 'offline_access', 'books'],
    clientDefaults: { application_type: 'native' },
    clients: [
      { client_id: 'tenon', client_secret: secret, redirect_uris: callback ? [callback] : [], response_types: callback ? ['code'] : [], grant_types: callback ? ['client_credentials', 'authorization_code'] : ['client_credentials'] },
      { client_id: 'machine', client_secret: 'a-secret-of-the-machine', redirect_uris: [], response_types: [], grant_types: ['client_credentials'], scope: 'books' },
    ],
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    ...(!people && { interactions: { url: (_, interaction) => `/login/${interaction.uid}` } }),
    features: {
      devInteractions: { enabled: people },
      encryption: { enabled: true }, // its key stands beside the other one and must not be taken for it
      clientCredentials: { enabled: true },
      registration: { enabled: true },
      introspection: { enabled: true, allowedPolicy: () => true },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: (_, resource) => ({ scope: 'books', audience: resource, accessTokenTTL: 600, accessTokenFormat: format, jwt: { sign: { alg: 'RS256' } } }),
      },
    },
  });
  const login = async (request, response) => {
    const { prompt, params, grantId } = await provider.interactionDetails(request, response);
    if (prompt.name === 'login') {
      return provider.interactionFinished(request, response, { login: { accountId: 'ann' } });
    }
    const grant = (grantId && (await provider.Grant.find(grantId))) || new provider.Grant({ accountId: 'ann', clientId: params.client_id });
    if (prompt.details.missingOIDCScope) grant.addOIDCScope(prompt.details.missingOIDCScope.join(' '));
    for (const [resource, scopes] of Object.entries(prompt.details.missingResourceScopes ?? {})) grant.addResourceScope(resource, scopes.join(' '));
    return provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } });
  };
  const others = provider.callback();
  server.on('request', (request, response) => {
    if (!request.url.startsWith('/login/')) return others(request, response);
    login(request, response).catch((error) => {
      response.statusCode = 500;
      response.end(String(error));
    });
  });
  return { url, close: () => { server.closeAllConnections(); server.close(); } };
}

// browser opens the page of an authorization as a user's browser does, and returns
// where it is sent in the end: the client's address with the code.
export async function browser(page, callback) {
  const jar = new Map();
  for (let at = String(page), hops = 0; hops < 10; hops++) {
    if (at.startsWith(callback)) return new URL(at);
    const answer = await fetch(at, { redirect: 'manual', headers: { cookie: [...jar].map(([k, v]) => `${k}=${v}`).join('; ') } });
    for (const cookie of answer.headers.getSetCookie()) {
      const [pair] = cookie.split(';');
      jar.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1));
    }
    const next = answer.headers.get('location');
    if (!next) throw new Error(`${at} answers ${answer.status}: ${(await answer.text()).slice(0, 500)}`);
    at = new URL(next, at).href;
  }
  throw new Error('the login never ends');
}
