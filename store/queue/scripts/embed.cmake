# cmake -DSCRIPTS=<this folder> -DOUT=<file.c> -P embed.cmake
#
# Writes queue_script_text[] (script_call.h): each script with what it needs of shared/ before it, as bytes, because
# compilers need not take long strings.
file(GLOB files ${SCRIPTS}/*.lua)
set(texts "")
set(rows "")
foreach(file IN LISTS files)
  get_filename_component(name ${file} NAME_WE)
  string(TOUPPER ${name} upper)
  set(bytes "")
  file(STRINGS ${file} needs REGEX "^-- needs: ")
  string(REPLACE "-- needs: " "" needs "${needs}")
  string(REPLACE " " ";" needs "${needs}")
  list(TRANSFORM needs REPLACE "(.+)" "${SCRIPTS}/shared/\\1.lua")
  foreach(piece IN LISTS needs file)
    file(READ ${piece} hex HEX)
    string(APPEND bytes "${hex}")
  endforeach()
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  string(APPEND texts "static const char ${name}_text[] = {${bytes}0};\n")
  string(APPEND rows "    [SCRIPT_${upper}] = ${name}_text,\n")
endforeach()
file(WRITE ${OUT} "#include \"store/queue/script_call.h\"\n\n${texts}\n"
  "const char *const queue_script_text[SCRIPT_COUNT] = {\n${rows}};\n")
