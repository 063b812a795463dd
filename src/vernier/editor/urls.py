from __future__ import annotations

from django.urls import path

from vernier.editor import library, photo_upload, post_edit, post_list

app_name = "editor"

urlpatterns = [
    path("editor/", post_list.posts, name="posts"),
    path("editor/new", post_edit.new, name="new"),
    path("editor/posts/<uuid:post_id>", post_edit.edit, name="post"),
    path("editor/posts/<uuid:post_id>/delete", post_list.delete, name="delete_post"),
    path("editor/posts/<uuid:post_id>/restore", post_list.restore, name="restore_post"),
    path("editor/photos", photo_upload.upload, name="upload"),
    path("editor/media", library.library, name="library"),
    path("editor/media/<uuid:media_id>", library.image, name="image"),
    path("editor/media/<uuid:media_id>/replace", photo_upload.replace, name="replace"),
    path("editor/media/<uuid:media_id>/delete", library.delete, name="delete_media"),
    path("editor/media/<uuid:media_id>/again", library.again, name="again"),
    path("editor/media/<uuid:media_id>/profile", library.profile_photo, name="profile_photo"),
]
