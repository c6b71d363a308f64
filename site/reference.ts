import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Context } from 'typedoc';
import { Application, Converter, ReflectionKind } from 'typedoc';
import ts from 'typescript';
import { root } from '../test/pages/blocks.ts';
import { publishedEntries } from '../test/structure/source.ts';
import type { Page } from './stage.ts';

/** The API reference: a page for each entry of the package and for each name of it, from the docstrings. */
export async function referencePages(folder: string): Promise<Page[]> {
  const entries = new Map(
    [...publishedEntries()].map(([name, path]) => [join(root, 'src', path), `coxswain${name.slice(1)}`]),
  );
  const options = {
    plugin: ['typedoc-plugin-markdown'],
    entryPoints: [...entries.keys()],
    tsconfig: join(root, 'tsconfig.build.json'),
    // The project's own check has said what there is to say, with its own compiler.
    skipErrorChecking: true,
    readme: 'none',
    name: 'API',
    disableSources: true,
    excludeInternal: true,
    excludePrivate: true,
    excludeProtected: true,
    sort: ['alphabetical'],
    validation: { notExported: false, invalidLink: false, invalidPath: true, rewrittenLink: true },
    logLevel: 'Error',
    outputs: [{ name: 'markdown', path: folder }],
    outputFileStrategy: 'members',
    membersWithOwnFile: ['Class', 'Enum', 'Function', 'Interface', 'TypeAlias', 'Variable'],
    indexFormat: 'table',
    useHTMLAnchors: true,
    hidePageHeader: true,
    parametersFormat: 'table',
    interfacePropertiesFormat: 'table',
    classPropertiesFormat: 'table',
    typeAliasPropertiesFormat: 'table',
    enumMembersFormat: 'table',
    typeDeclarationFormat: 'table',
    propertyMembersFormat: 'table',
    tableColumnSettings: { hideInherited: true, hideOverrides: true },
    pageTitleTemplates: { index: 'API', module: '{name}', member: '{name}' },
  };
  const app = await Application.bootstrapWithPlugins(options as Parameters<typeof Application.bootstrapWithPlugins>[0]);
  // A union keeps the names that its author gave: the compiler's own view of it is every member of every member.
  const convert = app.converter.convertType.bind(app.converter);
  app.converter.convertType = (context: Context, type?: ts.Type | ts.TypeNode, node?: ts.TypeNode) =>
    node !== undefined && ts.isUnionTypeNode(node)
      ? convert(context, node)
      : convert(context, ...([type, node] as [ts.Type, ts.TypeNode]));
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
    for (const module of project.getReflectionsByKind(ReflectionKind.Module)) {
      const file = project.getSymbolIdFromReflection(module)?.fileName;
      module.name = entries.get(file ?? '') ?? module.name;
    }
  });
  const project = await app.convert();
  if (project === undefined) throw new Error('typedoc could not read the entries');
  await app.generateOutputs(project);
  if (app.logger.hasErrors()) throw new Error('typedoc could not write the reference: see above');
  return globSync('**/*.md', { cwd: folder }).map((path) => ({
    path: `api-reference/${path}`,
    route: `api/${path.replace(/(^|\/)(README|index)\.md$/, '').replace(/\.md$/, '')}`.replace(/\/$/, ''),
    text: readFileSync(join(folder, path), 'utf8'),
  }));
}
