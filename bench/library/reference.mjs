// A whole library with the format's reference:
//
//   node reference.mjs load  CORE PROVIDERS LISTS PACKAGES
//   node reference.mjs calls CORE PROVIDERS LISTS PACKAGES > rows
//
// load reads every file as the reference does, and prints how many it took.
// calls runs the test cases of every tool against answers made from the tool's
// output schema, and prints a row for each: what was asked, what was answered,
// and what came of it.
import { readdirSync, statSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'

const [ mode, core, providers, lists, packages ] = process.argv.slice( 2 )
const { FlowMCP, Pipeline } = await import( pathToFileURL( core + '/src/v4/index.mjs' ) )
const files = ( dir ) => readdirSync( dir ).sort().flatMap( ( n ) => {
    const path = join( dir, n )
    return statSync( path ).isDirectory() ? files( path ) : path.endsWith( '.mjs' ) ? [ path ] : []
} )
const open = async ( filePath ) => {
    const { main } = await import( pathToFileURL( filePath ) )
    const all = await Pipeline.load( { filePath, listsDir: lists + '/', allowlist: main.requiredLibraries ?? [], resolveBase: packages, strict: true } )
    if( !all.status ) { throw new Error( all.messages.join( '; ' ) ) }
    return all
}
const write = ( row ) => process.stdout.write( JSON.stringify( row ) + '\n' )

// made is a value that fits an output schema.
const made = ( schema, key = '' ) => {
    if( schema?.enum?.length ) { return schema.enum[ 0 ] }
    switch( schema?.type ) {
        case 'object': return Object.fromEntries( Object.entries( schema.properties ?? {} ).map( ( [ k, s ] ) => [ k, made( s, k ) ] ) )
        case 'array': return [ made( schema.items, key ), made( schema.items, key ) ]
        case 'number': case 'integer': return 7
        case 'boolean': return true
        case 'string': return schema.format === 'date-time' ? '2026-01-31T12:00:00Z' : schema.format === 'uri' ? 'https://example.com/' + key : 'a text'
    }
    return {}
}

let answer = '{}'
let sent = 0
globalThis.fetch = async () => {
    sent++
    return new Response( answer, { status: 200, headers: { 'Content-Type': 'application/json' } } )
}
const late = ( ms ) => new Promise( ( resolve ) => setTimeout( () => resolve( { status: false, messages: [ 'late' ] } ), ms ) )

let loaded = 0, all = 0
for( const path of files( providers ) ) {
    all++
    let schema
    try { schema = await open( path ); loaded++ } catch( e ) { write( { file: relative( providers, path ), error: e.message.slice( 0, 300 ) } ); continue }
    if( mode === 'load' ) { continue }
    const { main, handlerMap } = schema
    const serverParams = Object.fromEntries( ( main.requiredServerParams ?? [] ).map( ( k ) => [ k, 'SP_' + k ] ) )
    for( const [ tool, { tests, output } ] of Object.entries( main.tools ) ) {
        answer = JSON.stringify( made( output?.schema ) )
        for( const [ test, { _description, ...userParams } ] of ( tests ?? [] ).entries() ) {
            sent = 0
            let got
            try {
                got = await Promise.race( [ FlowMCP.fetch( { main, handlerMap, userParams, serverParams, routeName: tool } ), late( 5000 ) ] )
            } catch( e ) { got = { status: false, messages: [ e.message ] } }
            const { status, messages, data } = got.struct ?? got
            write( { id: `${main.namespace}/${basename( path, '.mjs' )}::${tool}`, test, handler: Object.keys( handlerMap?.[ tool ] ?? {} ).filter( ( k ) => handlerMap[ tool ][ k ] ), args: userParams, answer, ok: status === true, why: ( messages ?? [] ).join( '; ' ).slice( 0, 300 ), sent, data: data ?? null } )
        }
    }
}
write( { files: all, loaded } )
process.exit( 0 )
